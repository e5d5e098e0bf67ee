#pragma once

#include <heed/tensor/tensor.h>

/// Comparisons and choices, element by element; shapes broadcast. NaN is equal to nothing and neither less
/// nor greater.
namespace heed::kernels {

/// a == b and so on as bool, for operands of one dtype: f32, f64 or i64.
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);

/// For bool operands.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& a);

/// a where the bool `condition` is true, else b: a choice, so that what is not chosen never enters the
/// result, not even as NaN.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace heed::kernels
