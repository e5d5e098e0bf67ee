#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct LayerNorm {
  Tensor y;          ///< the shape of x
  Tensor mean;       ///< (rows), for the backward
  Tensor deviation;  ///< (rows): 1 / sqrt(variance + epsilon)
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis; the variance is the mean
/// squared distance, in two passes. weight, bias: (width). Ba, Kiros, Hinton, "Layer normalization" (2016). y
/// goes into `*into` when that is given, which may be x.
LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                     Tensor* into = nullptr);

struct LayerNormGrads {
  Tensor x, weight, bias;
};

LayerNormGrads layer_norm_backward(const Tensor& grad, const Tensor& x, const Tensor& weight,
                                   const Tensor& mean, const Tensor& deviation);

}  // namespace heed::kernels
