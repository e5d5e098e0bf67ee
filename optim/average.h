#pragma once

#include <map>
#include <string>
#include <vector>

#include <heed/autograd/named.h>
#include <heed/tensor/kernels/update.h>

namespace heed::optim {

struct WeightAverageOptions {
  double decay = 0.999;  ///< how much of the average each update keeps
  /// At first it keeps less: (n + 1) / (n + 10) at most after n updates, so that soon nothing is left of the
  /// weights that it begins as.
  bool warm_up = false;
};

/// An exponential moving average (EMA) of weights, often better than the weights themselves: a = decay a + (1
/// - decay) p. It begins as the weights that it is made of: a random start is left out by one that is made
/// after the first thousand steps, or that warms up. Polyak, Juditsky, "Acceleration of stochastic
/// approximation by averaging" (1992).
class WeightAverage {
 public:
  /// ValueError for a decay outside [0, 1), or one name for two parameters. A parameter given twice is one.
  explicit WeightAverage(const NamedVariables& parameters, const WeightAverageOptions& options = {});
  WeightAverage(const WeightAverage&) = delete;
  WeightAverage& operator=(const WeightAverage&) = delete;

  /// To be called after each step of the optimizer. The weights are f32 or f64 (DTypeError).
  void update();

  /// `decay`, an f64 number, `updates`, an i64 one, if it warms up, and each average by its parameter's name
  /// as `<parameter>/average`, which shares this object's memory.
  std::map<std::string, Tensor> state_dict() const;
  /// Replaces it, the decay too. ValueError or ShapeError, with nothing changed, for a state of other
  /// parameters or shapes.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 private:
  friend class AveragedWeights;
  struct Entry {
    std::string name;
    Variable parameter;
    Tensor average;
  };

  std::vector<Entry> entries_;
  double decay_;
  bool warm_up_;
  int64_t updated_ = 0;  // so many times
  kernels::UpdateList updates_;
};

/// The parameters have their averages while it lives, and then what they had before again, bit for bit:
///
///     {
///       const optim::AveragedWeights averaged(average);
///       evaluate(model);
///     }
///
/// Training goes on after it only: what a step changes meanwhile is lost.
class AveragedWeights {
 public:
  explicit AveragedWeights(const WeightAverage& average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> weights_;  // of the model, and what they were
};

}  // namespace heed::optim
