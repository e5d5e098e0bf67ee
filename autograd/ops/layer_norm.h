#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis; weight, bias: (width).
Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double epsilon = 1e-5);

}  // namespace heed
