#pragma once

#include <heed/nn/module.h>

namespace heed::nn {

struct LayerNormOptions {
  int64_t width = 0;
  double epsilon = 1e-5;
};

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis, (..., width). Parameters: weight
/// of ones and bias of zeros, (width). Ba, Kiros, Hinton, "Layer normalization" (2016).
class LayerNorm : public Layer<LayerNorm> {
 public:
  explicit LayerNorm(const LayerNormOptions& options);
  Variable forward(const Variable& x);

 private:
  double epsilon_;
  Variable weight_, bias_;
};

}  // namespace heed::nn
