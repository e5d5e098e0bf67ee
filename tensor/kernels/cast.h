#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// Copies the numbers of `source` into `target`, broadcast to its shape and converted to its dtype:
/// floats to i64 are cut towards zero (NaN becomes 0, what is too large the nearest i64), everything but 0 is
/// true, bf16 rounds to nearest even.
void copy_into(Tensor& target, const Tensor& source);

}  // namespace heed::kernels
