#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// log(sum(exp(x))) over `axes` (all when empty), f32 and f64. The largest element is taken off first, so
/// nothing overflows. -infinity for nothing but -infinity and for no elements; infinity where an element is
/// infinity.
Tensor logsumexp(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);

/// dx = g exp(x - y), with y the logsumexp of x; 0 where both are -infinity. grad, y: x's shape, but 1 for
/// what is reduced.
Tensor logsumexp_backward(const Tensor& grad, const Tensor& x, const Tensor& y);

}  // namespace heed::kernels
