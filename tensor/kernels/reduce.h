#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// Sums over `axes` (all when empty). f32 is added up in blocks whose sums are carried in f64, so the
/// error does not grow with the count; i64 wraps around. keep_axes leaves size-1 axes where they were.
Tensor sum(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// sum / count, f32 and f64; ValueError for an empty mean.
Tensor mean(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// Sums the axes along which a tensor of shape `shape` was broadcast to x's shape: the adjoint of expand.
Tensor sum_to(const Tensor& x, const Shape& shape);
/// The index of the largest element along an axis, the first of equals, as i64. NaN counts as largest.
Tensor argmax(const Tensor& x, int64_t axis);
/// The sum of squares of all elements, in f64, safe from overflow for any finite f32.
double sum_of_squares(const Tensor& x);
bool all_finite(const Tensor& x);

}  // namespace heed::kernels
