#pragma once

#include <heed/tensor/tensor.h>

/// Reductions over `axes` (all when empty); keep_axes leaves axes of size 1 where they were.
namespace heed::kernels {

/// Sums of f32, f64, i64 or bf16. f32 is added up in blocks whose sums are carried in f64, so the error does
/// not grow with the count; bf16 is added up as f32 and rounded once; i64 wraps around.
Tensor sum(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// sum / count, for floats; ValueError for an empty mean.
Tensor mean(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// Sums the axes along which a tensor of shape `shape` was broadcast to x's shape: the adjoint of expand.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// True where some element is true, for a bool x; false for no elements.
Tensor any(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// True where every element is true, for a bool x; true for no elements.
Tensor all(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);

/// The sum of squares of all elements, in f64, safe from overflow for any finite f32.
double sum_of_squares(const Tensor& x);
/// Of any float dtype.
bool all_finite(const Tensor& x);

}  // namespace heed::kernels
