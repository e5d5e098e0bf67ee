#include <heed/optim/schedule.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <heed/optim/internal/state_reader.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>

namespace heed::optim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_number(const char* op, const char* name, double value, double high = kInfinity) {
  if (!(value >= 0 && value < high))
    raise<ValueError>("[{}] wanted {} in [0, {}), came {}", op, name, high, value);
}

void expect_at_least(const char* op, const char* name, int64_t value, int64_t least) {
  if (value < least) raise<ValueError>("[{}] wanted {} to be {} or more, came {}", op, name, least, value);
}

/// A schedule of a function that may take its step to be 0 or more.
template <class F>
Schedule from_zero(F f) {
  return [f = std::move(f)](int64_t step) -> double {
    expect_at_least("schedule", "the step", step, 0);
    return f(step);
  };
}

void expect_schedule(const char* op, const Schedule& schedule) {
  if (!schedule) raise<ValueError>("[{}] one of its schedules is empty", op);
}

double share_of(int64_t step, int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

void expect_decay(const char* op, const Decay& options) {
  expect_number(op, "lr", options.lr);
  expect_number(op, "final_lr", options.final_lr);
  expect_at_least(op, "steps", options.steps, 1);
}

}  // namespace

Schedule constant(double lr) {
  expect_number("constant", "lr", lr);
  return from_zero([lr](int64_t) { return lr; });
}

Schedule step_decay(const StepDecay& options) {
  expect_number("step_decay", "lr", options.lr);
  expect_number("step_decay", "factor", options.factor);
  expect_at_least("step_decay", "every", options.every, 1);
  return from_zero([options](int64_t step) {
    const int64_t decays = step / options.every;
    return options.lr * std::pow(options.factor, static_cast<double>(decays));
  });
}

Schedule linear(const Decay& options) {
  expect_decay("linear", options);
  return from_zero([options](int64_t step) {
    const double share = share_of(step, options.steps);
    return (1 - share) * options.lr + share * options.final_lr;
  });
}

Schedule cosine(const Decay& options) {
  expect_decay("cosine", options);
  return from_zero([options](int64_t step) {
    const double share = (1 - std::cos(std::numbers::pi * share_of(step, options.steps))) / 2;
    return (1 - share) * options.lr + share * options.final_lr;
  });
}

Schedule inverse_sqrt(const InverseSqrt& options) {
  expect_number("inverse_sqrt", "peak", options.peak);
  expect_at_least("inverse_sqrt", "warmup", options.warmup, 1);
  return from_zero([options](int64_t step) {
    const double share = (static_cast<double>(step) + 1) / static_cast<double>(options.warmup);
    return options.peak * std::min(share, 1 / std::sqrt(share));
  });
}

Schedule warmup(int64_t steps, Schedule then) {
  expect_at_least("warmup", "steps", steps, 0);
  expect_schedule("warmup", then);
  return from_zero([steps, then = std::move(then)](int64_t step) {
    if (step >= steps) return then(step - steps);
    return then(0) * static_cast<double>(step + 1) / static_cast<double>(steps + 1);
  });
}

Schedule sequence(std::vector<Phase> phases, Schedule last) {
  for (const Phase& phase : phases) {
    expect_at_least("sequence", "steps", phase.steps, 0);
    expect_schedule("sequence", phase.schedule);
  }
  expect_schedule("sequence", last);
  return from_zero([phases = std::move(phases), last = std::move(last)](int64_t step) {
    for (const Phase& phase : phases) {
      if (step < phase.steps) return phase.schedule(step);
      step -= phase.steps;
    }
    return last(step);
  });
}

Plateau::Plateau(const PlateauOptions& options)
    : options_(options), best_(options.maximize ? -kInfinity : kInfinity) {
  expect_number("plateau", "factor", options.factor, 1);
  expect_number("plateau", "lowest_factor", options.lowest_factor, 1);
  expect_number("plateau", "threshold", options.threshold);
  expect_at_least("plateau", "patience", options.patience, 0);
  expect_at_least("plateau", "cooldown", options.cooldown, 0);
}

bool Plateau::is_progress(double metric) const {
  const double gain = options_.maximize ? metric - best_ : best_ - metric;
  const bool is_relative = options_.relative && std::isfinite(best_);  // there is no best at first
  return gain > (is_relative ? std::abs(best_) * options_.threshold : options_.threshold);
}

double Plateau::step(double metric) {
  if (is_progress(metric)) {
    best_ = metric;
    without_progress_ = 0;
  } else {
    ++without_progress_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    without_progress_ = 0;
  }
  if (without_progress_ > options_.patience) {
    factor_ = std::max(factor_ * options_.factor, options_.lowest_factor);
    cooldown_left_ = options_.cooldown;
    without_progress_ = 0;
  }
  return factor_;
}

std::map<std::string, Tensor> Plateau::state_dict() const {
  return {{"factor", scalar(factor_, DType::f64)},
          {"best", scalar(best_, DType::f64)},
          {"without_progress", scalar(static_cast<double>(without_progress_), DType::i64)},
          {"cooldown_left", scalar(static_cast<double>(cooldown_left_), DType::i64)}};
}

void Plateau::load_state_dict(const std::map<std::string, Tensor>& state) {
  internal::StateReader reader("plateau", state);
  const double factor = reader.number("factor", DType::f64, 0, 1);
  const double best = reader.number("best", DType::f64, -kInfinity, kInfinity);
  const double without_progress = reader.number("without_progress", DType::i64, 0, kInfinity);
  const double cooldown_left = reader.number("cooldown_left", DType::i64, 0, kInfinity);
  reader.expect_all_read();
  factor_ = factor;
  best_ = best;
  without_progress_ = static_cast<int64_t>(without_progress);
  cooldown_left_ = static_cast<int64_t>(cooldown_left);
}

}  // namespace heed::optim
