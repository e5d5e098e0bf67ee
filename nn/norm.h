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

  const Variable& weight() const { return weight_; }
  double epsilon() const { return epsilon_; }

 private:
  double epsilon_;
  Variable weight_, bias_;
};

struct RMSNormOptions {
  int64_t width = 0;
  double epsilon = 1e-5;
};

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis, (..., width): LayerNorm without the mean and
/// the bias. Parameter: weight of ones, (width). Zhang, Sennrich, "Root mean square layer normalization"
/// (2019).
class RMSNorm : public Layer<RMSNorm> {
 public:
  explicit RMSNorm(const RMSNormOptions& options);
  Variable forward(const Variable& x);

 private:
  double epsilon_;
  Variable weight_;
};

}  // namespace heed::nn
