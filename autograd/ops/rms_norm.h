#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis; weight: (width).
Variable rms_norm(const Variable& x, const Variable& weight, double epsilon = 1e-5);

}  // namespace heed
