#pragma once

#include <heed/optim/optimizer.h>

namespace heed::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  bool amsgrad = false;     ///< divide by the largest v so far
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
/// epsilon). Kingma, Ba, "Adam: a method for stochastic optimization" (2015); for amsgrad Reddi, Kale, Kumar,
/// "On the convergence of Adam and beyond" (2018).
class Adam : public Optimizer {
 public:
  /// ValueError for betas outside [0, 1), or a negative epsilon or decay.
  explicit Adam(const NamedVariables& parameters, const AdamOptions& options = {})
      : Adam(parameters, options, false) {}

 protected:
  Adam(const NamedVariables& parameters, const AdamOptions& options, bool decoupled);
  void update(Tensor& parameter, const Tensor& grad, ParameterState& state) override;

 private:
  AdamOptions options_;
  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  ///< p -= lr weight_decay p
  bool amsgrad = false;        ///< divide by the largest v so far
};

/// Adam with a decay that shrinks the parameter itself and does not pass through the moments. Loshchilov,
/// Hutter, "Decoupled weight decay regularization" (2019).
class AdamW : public Adam {
 public:
  explicit AdamW(const NamedVariables& parameters, const AdamWOptions& options = {});
};

}  // namespace heed::optim
