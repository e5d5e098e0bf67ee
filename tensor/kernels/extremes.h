#pragma once

#include <heed/tensor/tensor.h>

/// The largest and smallest elements, f32, f64 and i64. NaN wins over every number. ValueError where there
/// are values to find and no elements to find them in.
namespace heed::kernels {

/// The largest over `axes` (all when empty); keep_axes leaves axes of size 1 where they were.
Tensor max(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
Tensor min(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);

/// The index of the largest element along an axis, the first of equals, as i64.
Tensor argmax(const Tensor& x, int64_t axis);
Tensor argmin(const Tensor& x, int64_t axis);

/// True where an element of x is the extreme of its set, as bool; `extreme` broadcasts to x's shape. A NaN is
/// the extreme where that is NaN.
Tensor attains(const Tensor& x, const Tensor& extreme);

}  // namespace heed::kernels
