#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// log(sum(exp(x))) over `axes` (all when empty), f32 and f64. The largest element is taken off first, so
/// nothing overflows. -infinity for nothing but -infinity and for no elements; infinity where an element is
/// infinity.
Tensor logsumexp(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);

}  // namespace heed::kernels
