#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

enum class ActivationKind { relu, gelu, tanh, sigmoid };

/// y = f(x + bias) in one pass: x (..., width), bias (width), f32 or f64. gelu is the exact form. The result
/// goes into `*into` when that is given, which may be x.
Tensor bias_activation(const Tensor& x, const Tensor& bias, ActivationKind kind, Tensor* into = nullptr);

struct BiasActivationGrads {
  Tensor x, bias;
};

/// dx = grad f'(x + bias), and dbias, the sum of dx over the rows, in the same pass.
BiasActivationGrads bias_activation_backward(const Tensor& grad, const Tensor& x, const Tensor& bias,
                                             ActivationKind kind);

}  // namespace heed::kernels
