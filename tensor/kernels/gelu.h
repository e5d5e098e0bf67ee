#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

enum class GeluForm {
  exact,  ///< x Phi(x) = x (1 + erf(x / sqrt(2))) / 2
  tanh    ///< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
};

/// The Gaussian error linear unit, of f32 or f64: 0 at -infinity, infinity at infinity. Hendrycks, Gimpel,
/// "Gaussian error linear units" (2016). The result goes into `*into` when that is given, which may be x.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact, Tensor* into = nullptr);

/// grad * d gelu(x) / dx; grad has x's shape. With Phi and phi the normal distribution and its density, the
/// exact form's slope is Phi(x) + x phi(x). At -infinity the slope is 0, at infinity 1.
Tensor gelu_backward(const Tensor& grad, const Tensor& x, GeluForm form = GeluForm::exact);

}  // namespace heed::kernels
