#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// score_ij = sum_h weight_h tanh(q_ih + k_jh): q (batch, queries, hidden), k (batch, keys, hidden), weight
/// (hidden) -> (batch, queries, keys), without an array of all sums.
Variable additive_score(const Variable& q, const Variable& k, const Variable& weight);

}  // namespace heed
