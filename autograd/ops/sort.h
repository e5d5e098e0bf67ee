#pragma once

#include <heed/autograd/variable.h>

/// Orders and running sums along an axis.
namespace heed {

struct Sorted {
  Variable values;
  Tensor indices;  ///< i64: where each value stood
};

/// Orders the elements along an axis; equal ones keep their order. NaN counts as larger than everything. The
/// gradient of each value goes to the place where it stood.
Sorted sort(const Variable& x, int64_t axis, bool descending = false);

/// The k largest along an axis, the largest first; of equal ones the first. ValueError unless 0 <= k <= size.
Sorted top_k(const Variable& x, int64_t axis, int64_t k);

/// y_i = x_0 + ... + x_i along an axis.
Variable cumulative_sum(const Variable& x, int64_t axis);

}  // namespace heed
