#pragma once

#include <heed/tensor/tensor.h>

namespace heed {

/// True if |a - b| <= absolute + relative * |b| for every element, in f64. An infinity is close only to
/// itself, NaN to nothing, or to NaN when `equal_nan`. The dtypes may differ. Throws ShapeError unless the
/// shapes are the same (nothing is broadcast), ValueError for a tolerance that is negative or NaN.
bool allclose(const Tensor& a, const Tensor& b, double relative = 1e-5, double absolute = 1e-8,
              bool equal_nan = false);

/// True if both have one shape and dtype and every a == b: 0 equals -0, NaN equals nothing.
bool equal(const Tensor& a, const Tensor& b);

/// True if both have one shape and dtype and the same bits in every element.
bool identical(const Tensor& a, const Tensor& b);

}  // namespace heed
