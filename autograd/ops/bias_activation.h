#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/bias_activation.h>

namespace heed {

using kernels::Activation;

/// f(x + bias) in one pass forward and one back: x (..., width), bias (width). gelu is the exact form.
Variable bias_activation(const Variable& x, const Variable& bias, Activation activation);

}  // namespace heed
