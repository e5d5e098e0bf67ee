#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct VarianceOptions {
  int64_t correction =
      1;  ///< taken off the count: 1 for a sample's variance, 0 for the mean squared distance
  bool keep_axes = false;  ///< leaves axes of size 1 where they were
};

/// sum((x - mean)^2) / (count - correction) over `axes` (all when empty), f32 and f64. In two passes, in f64,
/// so a mean far above the deviation costs no digits. ValueError unless count > correction >= 0.
Tensor var(const Tensor& x, const Dims& axes = {}, const VarianceOptions& options = {});

}  // namespace heed::kernels
