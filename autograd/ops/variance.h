#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/variance.h>

namespace heed {

using kernels::VarianceOptions;

/// sum((x - mean)^2) / (count - correction) over `axes` (all when empty). ValueError unless count >
/// correction >= 0.
Variable var(const Variable& x, const Dims& axes = {}, const VarianceOptions& options = {});

}  // namespace heed
