#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct RmsNorm {
  Tensor y;      ///< the shape of x
  Tensor scale;  ///< (rows): 1 / sqrt(mean(x^2) + epsilon), for the backward
};

/// y = x / sqrt(mean(x^2) + epsilon) * weight over the last axis; weight: (width). Zhang, Sennrich, "Root
/// mean square layer normalization" (2019).
RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double epsilon);

struct RmsNormGrads {
  Tensor x, weight;
};

RmsNormGrads rms_norm_backward(const Tensor& grad, const Tensor& x, const Tensor& weight,
                               const Tensor& scale);

}  // namespace heed::kernels
