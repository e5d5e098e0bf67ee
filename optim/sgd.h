#pragma once

#include <heed/optim/optimizer.h>

namespace heed::optim {

struct SGDOptions {
  double lr = 1e-3;
  /// Above 0, the steps follow a velocity. Whether there is one is decided here: a loaded state or a group
  /// changes the number only.
  double momentum = 0;
  double dampening = 0;     ///< how much of a gradient does not enter the velocity, from the second step on
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  bool nesterov = false;    ///< step along the gradient and the velocity that it has changed
};

/// p -= lr g, or with momentum v = momentum v + (1 - dampening) g, p -= lr v, where v is g in the first step;
/// by Nesterov's rule p -= lr (g + momentum v). Sutskever, Martens, Dahl, Hinton, "On the importance of
/// initialization and momentum in deep learning" (2013).
class SGD : public Optimizer {
 public:
  /// ValueError for a negative option, a dampening or momentum of 1 or more, for dampening or Nesterov's rule
  /// without momentum, and for both together.
  explicit SGD(const NamedVariables& parameters, const SGDOptions& options = {});

 protected:
  void update(Tensor& parameter, const Tensor& grad, ParameterState& state) override;

 private:
  SGDOptions options_;
  bool has_velocity_;
};

}  // namespace heed::optim
