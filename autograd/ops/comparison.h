#pragma once

#include <heed/autograd/variable.h>

/// Choices by a condition. The comparisons that make one have no gradient: they are kernels.
namespace heed {

/// a where the bool `condition` is true, else b; the three shapes broadcast. What is not chosen has gradient
/// 0.
Variable where(const Tensor& condition, const Variable& a, const Variable& b);

}  // namespace heed
