#pragma once

#include <utility>

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/mask.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::nn {

/// Which keys a query may see; true means "may be seen". `Mask::valid_lengths(lengths) &
/// Mask::causal_order()`.
using kernels::Mask;

/// x (batch, keys, width) with zeros in the places that none of the queries may see, where x has anything in
/// it that is not finite; else x itself, for a weight of 0 makes nothing of what is finite. Whatever stands
/// in padding, a layer that begins with this lets nothing of it through, neither to its result nor to the
/// gradients of its parameters.
Variable without_hidden(const Variable& x, const Mask& mask, int64_t queries);

/// Each query as a sample of its own, with the keys that it may see: q (batch, queries, any) and k (batch,
/// keys, any) as (batch * queries, 1, any) and (batch * queries, keys, any); heads, if there are any, stand
/// after the batch in all of them. Zeros stand in place of hidden keys, and of queries that see none.
std::pair<Variable, Variable> queries_apart(const Variable& q, const Variable& k, const Mask& mask);
/// Their scores, (batch * queries, 1, keys), as those of q: (batch, queries, keys).
Variable scores_together(const Variable& scores, const Variable& q);

/// score(q, k) -> (batch, queries, keys), for any score of pairs, such that a key takes no part in the scores
/// of the queries that may not see it, nor in their gradients: not even one that holds NaN or infinities and
/// that other queries see, where a gradient of 0 times NaN would be NaN. Where everything is finite that is
/// so by itself, and score(q, k) is all that is done.
template <class Score>
Variable scores_of_seen(const Variable& q, const Variable& k, const Mask& mask, Score&& score) {
  if (kernels::all_finite(q.data()) && kernels::all_finite(k.data())) return score(q, k);
  const auto [query, keys] = queries_apart(q, k, mask);
  return scores_together(score(query, keys), q);
}

}  // namespace heed::nn
