#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// The largest element over `axes` (all when empty); keep_axes leaves axes of size 1 where they were. NaN
/// wins over every number. The gradient goes to the largest, in equal shares where several are. ValueError
/// for the largest of nothing.
Variable max(const Variable& x, const Dims& axes = {}, bool keep_axes = false);
/// The same of the smallest.
Variable min(const Variable& x, const Dims& axes = {}, bool keep_axes = false);

}  // namespace heed
