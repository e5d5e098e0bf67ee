#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// The matrix product of the last two axes, batched and broadcast over the others:
/// (..., m, k) x (..., k, n) -> (..., m, n). da = g b^T, db = a^T g.
Variable matmul(const Variable& a, const Variable& b);

/// x W^T + b: x (..., inputs), weight (outputs, inputs), bias (outputs) or undefined -> (..., outputs).
Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {});

}  // namespace heed
