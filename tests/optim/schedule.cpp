#include <heed/optim/schedule.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;
using optim::Schedule;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_rates_of_pytorch(const std::string& name, const Schedule& schedule) {
  const Tensor wanted = load_fixture("optimizers.safetensors", name).outputs[0];
  for (int64_t step = 0; step < wanted.numel(); ++step)
    EXPECT_NEAR(schedule(step), wanted.at({step}), 1e-12) << name << " at step " << step;
}

/// Its rates on the metrics of the fixture; after `stop` it goes on from a file.
void expect_plateau_of_pytorch(const std::string& name, const optim::PlateauOptions& options, int64_t stop) {
  const Tensor metrics = load_fixture("optimizers.safetensors", "plateau").args[0];
  const Tensor wanted = load_fixture("optimizers.safetensors", name).outputs[0];
  const TempDir folder;
  optim::Plateau first(options), second(options);
  optim::Plateau* plateau = &first;
  for (int64_t step = 0; step < metrics.numel(); ++step) {
    EXPECT_NEAR(0.4 * plateau->factor(), wanted.at({step}), 1e-12) << name << " at step " << step;
    plateau->step(metrics.at({step}));
    if (step != stop) continue;
    save_safetensors(folder.file("plateau"), first.state_dict());
    second.load_state_dict(load_safetensors(folder.file("plateau")).tensors);
    plateau = &second;
  }
}

/// Loads the plateau's own state with one entry replaced or left out: all of it must be refused.
template <class E>
void expect_refused(optim::Plateau& plateau, const std::string& key, const Tensor& value,
                    const std::string& message) {
  const StateDict before = plateau.state_dict();
  StateDict state = before;
  state.at(key == "factor" ? "best" : "factor") = scalar(0.25, DType::f64);
  state.erase(key);
  if (value.defined()) state.emplace(key, value);
  expect_error<E>([&] { plateau.load_state_dict(state); }, "[plateau] " + message);
  EXPECT_TRUE(same_numbers(plateau.state_dict(), before));
}

}  // namespace

TEST(Schedule, matches_pytorch) {
  expect_rates_of_pytorch("step", optim::step_decay({.lr = 0.4, .every = 7, .factor = 0.3}));
  expect_rates_of_pytorch("cosine", optim::cosine({.lr = 0.4, .steps = 30, .final_lr = 0.05}));
  expect_rates_of_pytorch("linear", optim::linear({.lr = 0.4, .steps = 25, .final_lr = 0.1}));
  expect_rates_of_pytorch("warmup_cosine",
                          optim::warmup(10, optim::cosine({.lr = 0.4, .steps = 20, .final_lr = 0.05})));
  expect_rates_of_pytorch("sequence",
                          optim::sequence({{optim::constant(0.4), 5},
                                           {optim::step_decay({.lr = 0.4, .every = 3, .factor = 0.5}), 7}},
                                          optim::linear({.lr = 0.2, .steps = 8, .final_lr = 0.04})));
}

TEST(Schedule, follows_its_formula) {
  const Schedule flat = optim::constant(0.3), steps = optim::step_decay({.lr = 2, .every = 3, .factor = 0.5});
  const Schedule line = optim::linear({.lr = 1, .steps = 7, .final_lr = 3});
  const Schedule wave = optim::cosine({.lr = 1, .steps = 50, .final_lr = 0.1});
  const Schedule root = optim::inverse_sqrt({.peak = 1 / std::sqrt(512.0 * 40), .warmup = 40});
  for (int64_t step = 0; step < 200; ++step) {
    const double s = static_cast<double>(step), n = s + 1;
    EXPECT_EQ(flat(step), 0.3);
    EXPECT_NEAR(steps(step), 2 * std::pow(0.5, std::floor(s / 3)), 1e-15);
    EXPECT_NEAR(line(step), step < 7 ? 1 + 2 * s / 7 : 3, 1e-15);
    EXPECT_NEAR(wave(step), step < 50 ? 0.55 + 0.45 * std::cos(std::numbers::pi * s / 50) : 0.1, 1e-15);
    // The formula as it is printed in Vaswani et al. (2017).
    EXPECT_NEAR(root(step), std::pow(512, -0.5) * std::min(std::pow(n, -0.5), n * std::pow(40, -1.5)), 1e-15);
  }
}

TEST(Schedule, ends_exactly_where_it_was_asked_to) {
  for (const auto& decay : {optim::linear, optim::cosine}) {
    const Schedule schedule = decay({.lr = 0.7, .steps = 3, .final_lr = 0.1});
    EXPECT_EQ(schedule(0), 0.7);
    for (const int64_t step : {int64_t{3}, int64_t{4}, std::numeric_limits<int64_t>::max()})
      EXPECT_EQ(schedule(step), 0.1);
  }
}

TEST(Schedule, warms_up_to_the_beginning_of_another) {
  const Schedule schedule = optim::warmup(4, optim::linear({.lr = 1, .steps = 2}));
  const std::vector<double> wanted{0.2, 0.4, 0.6, 0.8, 1, 0.5, 0, 0};
  for (size_t step = 0; step < wanted.size(); ++step)
    EXPECT_NEAR(schedule(static_cast<int64_t>(step)), wanted[step], 1e-15);
  EXPECT_EQ(optim::warmup(0, optim::constant(0.5))(0), 0.5);
}

TEST(Schedule, composes) {
  const Schedule schedule = optim::sequence(
      {{optim::warmup(1, optim::constant(1)), 3}, {optim::constant(7), 0}, {optim::constant(5), 1}},
      optim::warmup(1, optim::step_decay({.lr = 8, .every = 1, .factor = 0.5})));
  const std::vector<double> wanted{0.5, 1, 1, 5, 4, 8, 4, 2};
  for (size_t step = 0; step < wanted.size(); ++step)
    EXPECT_EQ(schedule(static_cast<int64_t>(step)), wanted[step]) << step;
  EXPECT_EQ(optim::sequence({}, optim::constant(3))(9), 3);
}

TEST(Schedule, names_bad_options) {
  const auto expect_refused = [](const auto& make, const std::string& message) {
    expect_error<ValueError>(make, message);
  };
  expect_refused([] { optim::constant(-1); }, "[constant] wanted lr in [0, inf), came -1");
  expect_refused([] { optim::constant(NAN); }, "[constant] wanted lr in [0, inf), came nan");
  expect_refused([] { optim::step_decay({.lr = -1}); }, "[step_decay] wanted lr in [0, inf), came -1");
  expect_refused([] { optim::step_decay({.every = 0}); },
                 "[step_decay] wanted every to be 1 or more, came 0");
  expect_refused([] { optim::step_decay({.factor = -2}); },
                 "[step_decay] wanted factor in [0, inf), came -2");
  expect_refused([] { optim::linear({.lr = kInfinity}); }, "[linear] wanted lr in [0, inf), came inf");
  expect_refused([] { optim::linear({.steps = 0}); }, "[linear] wanted steps to be 1 or more, came 0");
  expect_refused([] { optim::cosine({.final_lr = -1}); }, "[cosine] wanted final_lr in [0, inf), came -1");
  expect_refused([] { optim::inverse_sqrt({.peak = -1}); },
                 "[inverse_sqrt] wanted peak in [0, inf), came -1");
  expect_refused([] { optim::inverse_sqrt({.warmup = 0}); },
                 "[inverse_sqrt] wanted warmup to be 1 or more, came 0");
  expect_refused([] { optim::warmup(-1, optim::constant(1)); },
                 "[warmup] wanted steps to be 0 or more, came -1");
  expect_refused(
      [] {
        optim::sequence({{optim::constant(1), -1}}, optim::constant(1));
      },
      "[sequence] wanted steps to be 0 or more, came -1");
  expect_refused([] { optim::warmup(1, {}); }, "[warmup] one of its schedules is empty");
  expect_refused(
      [] {
        optim::sequence({{{}, 1}}, optim::constant(1));
      },
      "[sequence] one of its schedules is empty");
  expect_refused([] { optim::sequence({}, {}); }, "[sequence] one of its schedules is empty");
  for (const Schedule& schedule :
       {optim::constant(1), optim::cosine({}), optim::linear({}), optim::step_decay({}),
        optim::inverse_sqrt({}), optim::warmup(2, optim::constant(1))})
    expect_refused([&] { schedule(-1); }, "[schedule] wanted the step to be 0 or more, came -1");
}

TEST(Plateau, matches_pytorch_also_when_resumed) {
  for (const int64_t stop : {0, 7, 10, 18, 59}) {
    expect_plateau_of_pytorch(
        "plateau", {.factor = 0.5, .patience = 3, .threshold = 0.01, .cooldown = 2, .lowest_factor = 0.05},
        stop);
    expect_plateau_of_pytorch(
        "plateau_max", {.maximize = true, .factor = 0.5, .patience = 4, .threshold = 0.5, .relative = false},
        stop);
  }
}

TEST(Plateau, a_metric_below_zero_must_get_better_too) {
  optim::Plateau plateau({.factor = 0.5, .patience = 0, .threshold = 0.1});
  EXPECT_EQ(plateau.step(-10), 1);
  EXPECT_EQ(plateau.step(-9.5), 0.5);  // PyTorch 1.13 takes this for progress
  EXPECT_EQ(plateau.step(-10.5), 0.25);
  EXPECT_EQ(plateau.step(-11.5), 0.25);
}

TEST(Plateau, no_number_is_no_progress) {
  optim::Plateau plateau({.factor = 0.5, .patience = 1});
  EXPECT_EQ(plateau.step(NAN), 1);
  EXPECT_EQ(plateau.step(kInfinity), 0.5);
  EXPECT_EQ(plateau.step(3), 0.5);
  EXPECT_EQ(plateau.step(NAN), 0.5);
  EXPECT_EQ(plateau.step(NAN), 0.25);
}

TEST(Plateau, refuses_a_state_that_does_not_fit_and_keeps_its_own) {
  optim::Plateau plateau({.factor = 0.5, .patience = 1});
  plateau.step(3);
  plateau.step(4);
  expect_refused<ValueError>(plateau, "best", {}, "its state lacks \"best\"");
  expect_refused<ValueError>(plateau, "best", scalar(NAN, DType::f64),
                             "wanted \"best\" in [-inf, inf], came nan");
  expect_refused<ShapeError>(plateau, "best", ones({2}, DType::f64),
                             "wanted \"best\" to be one f64, came f64(2,)");
  expect_refused<ShapeError>(plateau, "without_progress", scalar(1, DType::f64),
                             "wanted \"without_progress\" to be one i64, came f64()");
  expect_refused<ValueError>(plateau, "cooldown_left", scalar(-1, DType::i64),
                             "wanted \"cooldown_left\" in [0, inf], came -1");
  expect_refused<ValueError>(plateau, "factor", scalar(2, DType::f64), "wanted \"factor\" in [0, 1], came 2");
  expect_refused<ValueError>(plateau, "worst", scalar(2, DType::f64),
                             "its state has an unexpected \"worst\"");
}

TEST(Plateau, names_bad_options) {
  const auto expect_refused = [](const optim::PlateauOptions& options, const std::string& message) {
    expect_error<ValueError>([&] { optim::Plateau{options}; }, "[plateau] wanted " + message);
  };
  expect_refused({.factor = 1}, "factor in [0, 1), came 1");
  expect_refused({.patience = -1}, "patience to be 0 or more, came -1");
  expect_refused({.threshold = -1}, "threshold in [0, inf), came -1");
  expect_refused({.cooldown = -1}, "cooldown to be 0 or more, came -1");
  expect_refused({.lowest_factor = 1}, "lowest_factor in [0, 1), came 1");
}
