#pragma once

#include <heed/tensor/tensor.h>

/// Elementwise functions of one argument, f32 and f64. Infinities and NaN follow IEEE.
namespace heed::kernels {

Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0)
/// `grad` where x > 0, else 0.
Tensor relu_backward(const Tensor& grad, const Tensor& x);

}  // namespace heed::kernels
