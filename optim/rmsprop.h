#pragma once

#include <heed/optim/optimizer.h>

namespace heed::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< how much of the mean square is kept
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  /// Above 0, the steps follow a velocity. Whether there is one is decided here: a loaded state or a group
  /// changes the number only.
  double momentum = 0;
  bool centered = false;  ///< divide by the standard deviation instead of the root of the mean square
};

/// v = alpha v + (1 - alpha) g^2, p -= lr g / (sqrt(v) + epsilon). Centered, the mean of g is kept as well
/// and its square taken from v; with momentum u = momentum u + g / (sqrt(v) + epsilon), p -= lr u. Hinton,
/// "Neural networks for machine learning", lecture 6 (2012); Graves, "Generating sequences with recurrent
/// neural networks" (2013).
class RMSprop : public Optimizer {
 public:
  /// ValueError for a negative option, or an alpha or momentum of 1 or more.
  explicit RMSprop(const NamedVariables& parameters, const RMSpropOptions& options = {});

 protected:
  void update(Tensor& parameter, const Tensor& grad, ParameterState& state) override;

 private:
  RMSpropOptions options_;
  bool has_velocity_;
};

}  // namespace heed::optim
