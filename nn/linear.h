#pragma once

#include <heed/nn/module.h>

namespace heed::nn {

struct LinearOptions {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool bias = true;
};

/// y = x W^T + b: x (..., inputs) -> (..., outputs). Parameters: weight (outputs, inputs), Xavier; bias
/// (outputs), uniform in +-1 / sqrt(inputs).
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
};

}  // namespace heed::nn
