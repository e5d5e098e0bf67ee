#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// `value` where the bool `mask` (broadcast to x's shape) is true, else x: a choice, so that what is
/// replaced never enters the result, not even as NaN.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

}  // namespace heed::kernels
