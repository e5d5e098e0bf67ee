#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/bias_activation.h>

namespace heed {

using kernels::ActivationKind;

/// max(0, x), x Phi(x) with Phi the normal distribution, tanh(x), or 1 / (1 + exp(-x)), element by element.
Variable activate(const Variable& x, ActivationKind kind);

/// f(x + bias) in one pass forward and one back: x (..., width), bias (width).
Variable bias_activation(const Variable& x, const Variable& bias, ActivationKind kind);

}  // namespace heed
