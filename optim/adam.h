#pragma once

#include <heed/optim/optimizer.h>

namespace heed::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
/// epsilon). Kingma, Ba, "Adam: a method for stochastic optimization" (2015).
class Adam : public Optimizer {
 public:
  /// ValueError for betas outside [0, 1), or a negative epsilon or decay.
  explicit Adam(const NamedVariables& parameters, const AdamOptions& options = {});

 protected:
  void update(Tensor& parameter, const Tensor& grad, ParameterState& state) override;

 private:
  AdamOptions options_;
};

}  // namespace heed::optim
