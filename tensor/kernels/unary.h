#pragma once

#include <heed/tensor/tensor.h>

/// Elementwise functions of one argument, f32 and f64. Infinities and NaN follow IEEE.
namespace heed::kernels {

Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  ///< 1 / sqrt(x)
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);  ///< -1, 0 or 1; NaN stays NaN
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor erf(const Tensor& x);  ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0)
/// `grad` where x > 0, else 0.
Tensor relu_backward(const Tensor& grad, const Tensor& x);
/// low where x < low, high where x > high, else x; NaN stays NaN. ValueError unless low <= high.
Tensor clamp(const Tensor& x, double low, double high);
/// `grad` where low <= x <= high, else 0.
Tensor clamp_backward(const Tensor& grad, const Tensor& x, double low, double high);

}  // namespace heed::kernels
