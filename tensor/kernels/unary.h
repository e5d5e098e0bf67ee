#pragma once

#include <heed/tensor/tensor.h>

/// Elementwise functions of one argument, f32 and f64. Infinities and NaN follow IEEE. A result goes into
/// `*into` when that is given, which may be x itself.
namespace heed::kernels {

Tensor neg(const Tensor& x, Tensor* into = nullptr);
Tensor exp(const Tensor& x, Tensor* into = nullptr);
Tensor log(const Tensor& x, Tensor* into = nullptr);
Tensor sqrt(const Tensor& x, Tensor* into = nullptr);
Tensor rsqrt(const Tensor& x, Tensor* into = nullptr);  ///< 1 / sqrt(x)
Tensor abs(const Tensor& x, Tensor* into = nullptr);
Tensor sign(const Tensor& x, Tensor* into = nullptr);  ///< -1, 0 or 1; NaN stays NaN
Tensor sin(const Tensor& x, Tensor* into = nullptr);
Tensor cos(const Tensor& x, Tensor* into = nullptr);
Tensor erf(const Tensor& x,
           Tensor* into = nullptr);  ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Tensor tanh(const Tensor& x, Tensor* into = nullptr);
Tensor sigmoid(const Tensor& x, Tensor* into = nullptr);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x, Tensor* into = nullptr);     ///< max(x, 0)
/// `grad` where x > 0, else 0.
Tensor relu_backward(const Tensor& grad, const Tensor& x);
/// low where x < low, high where x > high, else x; NaN stays NaN. ValueError unless low <= high.
Tensor clamp(const Tensor& x, double low, double high, Tensor* into = nullptr);
/// `grad` where low <= x <= high, else 0.
Tensor clamp_backward(const Tensor& grad, const Tensor& x, double low, double high);

}  // namespace heed::kernels
