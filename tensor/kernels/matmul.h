#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// The matrix product of the last two axes, batched and broadcast over the others:
/// (..., m, k) x (..., k, n) -> (..., m, n). f32 and bf16 by oneDNN, f64 by a loop of our own. A
/// transposed operand costs nothing. An inner size of 0 gives zeros. The result goes into `*into` when that
/// is given.
Tensor matmul(const Tensor& a, const Tensor& b, Tensor* into = nullptr);

/// x W^T + b: x (..., inputs), weight (outputs, inputs), bias (outputs) or undefined -> (..., outputs).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor* into = nullptr);

}  // namespace heed::kernels
