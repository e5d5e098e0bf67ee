#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// log(sum(exp(x))) over `axes` (all when empty); keep_axes leaves axes of size 1 where they were. -infinity
/// for nothing but -infinity, with the gradient 0, and for no elements.
Variable logsumexp(const Variable& x, const Dims& axes = {}, bool keep_axes = false);

}  // namespace heed
