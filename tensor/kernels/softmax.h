#pragma once

#include <heed/tensor/kernels/mask.h>
#include <heed/tensor/tensor.h>

/// Softmax and its relatives, f32 and f64. The largest element is taken off first, so nothing overflows.
/// A result goes into `*into` when that is given, which may be the argument itself.
namespace heed::kernels {

/// y_i = exp(x_i) / sum_j exp(x_j) along an axis. A row of nothing but -infinity gives zeros.
Tensor softmax(const Tensor& x, int64_t axis, Tensor* into = nullptr);
/// dx_i = y_i (g_i - sum_j g_j y_j); where y is exactly 0, g counts for nothing, be it NaN.
Tensor softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into = nullptr);

/// y_i = x_i - log(sum_j exp(x_j)) along an axis. A row of nothing but -infinity stays as it is.
Tensor log_softmax(const Tensor& x, int64_t axis, Tensor* into = nullptr);
/// dx_i = g_i - exp(y_i) sum_j g_j
Tensor log_softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into = nullptr);

/// Softmax of the keys that each query may see: scores (batch, queries, keys) or (batch, heads, queries,
/// keys). Hidden keys get 0 whatever their scores are, and so does a whole row that sees nothing. The
/// backward is softmax_backward.
Tensor masked_softmax(const Tensor& scores, const Mask& mask, Tensor* into = nullptr);

}  // namespace heed::kernels
