#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed::optim {

/// A learning rate as a pure function of the number of steps taken before this one, so that it has no state
/// to save: `optimizer.set_lr(schedule(step))`. ValueError for a negative step.
using Schedule = std::function<double(int64_t step)>;

/// lr at every step.
Schedule constant(double lr);

struct StepDecay {
  double lr = 1e-3;
  int64_t every = 1000;  ///< steps
  double factor = 0.1;
};
/// lr factor^floor(step / every). ValueError unless lr >= 0, every >= 1 and factor >= 0.
Schedule step_decay(const StepDecay& options);

struct Decay {
  double lr = 1e-3;
  int64_t steps = 1000;
  double final_lr = 0;
};
/// From lr in a straight line to final_lr, where it stays from step `steps` on. ValueError unless lr,
/// final_lr
/// >= 0 and steps >= 1, here and for cosine.
Schedule linear(const Decay& options);
/// final_lr + (lr - final_lr) (1 + cos(pi step / steps)) / 2, and final_lr from step `steps` on. Loshchilov,
/// Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), without restarts.
Schedule cosine(const Decay& options);

struct InverseSqrt {
  double peak = 1e-3;
  int64_t warmup = 4000;  ///< the number of the step at the peak, from 1
};
/// peak min(n / warmup, sqrt(warmup / n)) in step number n = step + 1. Vaswani et al., "Attention is all you
/// need" (2017), where the peak is 1 / sqrt(width warmup). ValueError unless peak >= 0 and warmup >= 1.
Schedule inverse_sqrt(const InverseSqrt& options);

/// Rises for `steps` steps in a straight line to the first rate of `then`, which begins thereafter:
/// then(0) (step + 1) / (steps + 1), so no step is lost at a rate of 0. ValueError for negative steps and an
/// empty function, here and for sequence.
Schedule warmup(int64_t steps, Schedule then);

/// A schedule, and how many of its steps are taken.
struct Phase {
  Schedule schedule;
  int64_t steps = 0;
};
/// One schedule after another, each from its own step 0, and `last` from then on.
Schedule sequence(std::vector<Phase> phases, Schedule last);

struct PlateauOptions {
  bool maximize = false;  ///< a higher metric is the better one
  double factor = 0.1;
  int64_t patience = 10;  ///< how many metrics without progress are borne; the next one lowers the rate
  double threshold = 1e-4;
  bool relative = true;      ///< progress is better than the best by threshold |best|, else by threshold
  int64_t cooldown = 0;      ///< metrics after a reduction that do not count as without progress
  double lowest_factor = 0;  ///< the product of all reductions goes no further down
};

/// Lowers the learning rate when a metric no longer gets better. It gives a factor and not a rate, so that it
/// goes with any schedule: `optimizer.set_lr(schedule(step) * plateau.factor())`. It depends on what was
/// seen, so it has a state.
class Plateau {
 public:
  /// ValueError unless factor and lowest_factor are in [0, 1), and patience, cooldown and threshold >= 0.
  explicit Plateau(const PlateauOptions& options = {});

  /// Takes a metric, once an epoch for example, and returns the factor from now on. NaN is no progress.
  double step(double metric);
  double factor() const { return factor_; }

  std::map<std::string, Tensor> state_dict() const;
  /// ValueError or ShapeError, with nothing changed, for missing or unexpected entries and for numbers that
  /// no state has.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 private:
  bool is_progress(double metric) const;

  PlateauOptions options_;
  double factor_ = 1;
  double best_;
  int64_t without_progress_ = 0;
  int64_t cooldown_left_ = 0;
};

}  // namespace heed::optim
