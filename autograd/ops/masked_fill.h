#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// `value` where the bool `mask` (broadcast to x's shape) is true, else x. What is replaced has gradient 0.
Variable masked_fill(const Variable& x, const Tensor& mask, double value);

}  // namespace heed
