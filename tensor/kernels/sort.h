#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct Sorted {
  Tensor values;
  Tensor indices;  ///< i64: where each value stood
};

/// Orders the elements along an axis; equal ones keep their order. NaN counts as larger than everything.
Sorted sort(const Tensor& x, int64_t axis, bool descending = false);

/// The k largest along an axis, the largest first; of equal ones the first. ValueError unless 0 <= k <= size.
Sorted top_k(const Tensor& x, int64_t axis, int64_t k);

/// y_i = x_0 + ... + x_i along an axis; f32 is carried in f64, i64 wraps around.
Tensor cumulative_sum(const Tensor& x, int64_t axis);
/// y_i = x_i + ... + x_last along an axis: the adjoint of cumulative_sum.
Tensor reversed_cumulative_sum(const Tensor& x, int64_t axis);

}  // namespace heed::kernels
