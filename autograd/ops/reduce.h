#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// Sums over `axes` (all when empty); keep_axes leaves axes of size 1 where they were.
Variable sum(const Variable& x, const Dims& axes = {}, bool keep_axes = false);
/// sum / count; ValueError for the mean of nothing.
Variable mean(const Variable& x, const Dims& axes = {}, bool keep_axes = false);
/// Sums the axes along which `shape` is broadcast to x's shape: the adjoint of expand.
Variable sum_to(const Variable& x, const Shape& shape);

}  // namespace heed
