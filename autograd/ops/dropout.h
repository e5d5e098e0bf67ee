#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/random.h>

namespace heed {

/// Drops each element with probability p and multiplies the others by 1 / (1 - p); p = 0 changes nothing,
/// p = 1 gives zeros. The mask is drawn once and serves forward and backward.
Variable dropout(const Variable& x, double p, Generator& generator = default_generator());

/// The same with a mask that is given: bool of x's shape, true keeps.
Variable dropout_with_mask(const Variable& x, const Tensor& keep, double p);

}  // namespace heed
