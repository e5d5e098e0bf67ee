#pragma once

#include <optional>

#include <heed/autograd/ops/bias_activation.h>
#include <heed/nn/module.h>

namespace heed::nn {

struct LinearOptions {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool bias = true;
  std::optional<ActivationKind> activation = std::nullopt;  ///< f, in one pass with the bias
};

/// y = x W^T + b, or f(x W^T + b): x (..., inputs) -> (..., outputs). Parameters: weight (outputs, inputs),
/// Xavier; bias (outputs), uniform in +-1 / sqrt(inputs).
class Linear : public Layer<Linear> {
 public:
  explicit Linear(const LinearOptions& options);
  /// With first values of one's own; the bias may be undefined.
  Linear(Tensor weight, Tensor bias);
  Variable forward(const Variable& x);

  const Variable& weight() const { return weight_; }
  const Variable& bias() const { return bias_; }

 private:
  Variable weight_, bias_;
  std::optional<ActivationKind> activation_;
};

}  // namespace heed::nn
