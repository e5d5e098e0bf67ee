#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/mask.h>

namespace heed {

/// y_i = exp(x_i) / sum_j exp(x_j) along an axis.
Variable softmax(const Variable& x, int64_t axis);
/// y_i = x_i - log(sum_j exp(x_j)) along an axis.
Variable log_softmax(const Variable& x, int64_t axis);
/// Softmax over the keys that each query may see: scores (batch, queries, keys) or (batch, heads, queries,
/// keys). Hidden keys have weight 0 and gradient 0, and so has a whole row that sees nothing.
Variable masked_softmax(const Variable& scores, const kernels::Mask& mask);

}  // namespace heed
