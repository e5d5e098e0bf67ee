#pragma once

#include <cstdint>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed::study {

/// How one head of an attention layer attends, and what gradient it gets. With p the weights of a query, s
/// its scores and k the keys that it may see, entropy to spread are means over queries: over those whose
/// weights have a gradient that is not 0, so that padding does not count, or over all that see a key if there
/// is no gradient.
struct HeadStatistics {
  int64_t queries = 0;    ///< how many were counted
  double entropy = 0;     ///< -sum p ln p, in nats: 0 where all looks at one key, ln k where at all alike
  double largest = 0;     ///< max p
  double saturation = 0;  ///< 1 - sum p^2, the trace of softmax's Jacobian: 0 where no gradient comes through
  double spread = 0;      ///< the standard deviation of s over the keys that are seen
  double relevance = 0;   ///< sum |p dL/dp|: how much the loss hangs on what is looked at
  double weight_gradient = 0;  ///< |dL/dA|, the Euclidean norm over all queries and keys
  double score_gradient = 0;   ///< |dL/dS|
  double query_gradient = 0;   ///< |dL/dQ| of the head's columns; so are
  double key_gradient = 0;
  double value_gradient = 0;
};

/// Of each head: weights, scores and their gradients (batch, heads, queries, keys), f32 or f64, the gradients
/// undefined where there are none. The gradients of query, key and value are left 0.
std::vector<HeadStatistics> head_statistics(const Tensor& weights, const Tensor& scores,
                                            const Tensor& weight_gradients, const Tensor& score_gradients);

/// The Euclidean norm of each head's columns: x (batch, length, heads * d).
std::vector<double> norms_by_head(const Tensor& x, int64_t heads);

/// |x|, summed up in f64.
double norm_of(const Tensor& x);

struct ParameterStatistics {
  double weight_norm = 0;
  double gradient_norm = 0;  ///< of the elements that are finite
  double update_ratio =
      0;             ///< |w - w before| / |w before|, for the change since the last record; 0 at the first
  double zeros = 0;  ///< the share of gradients that are 0
  double not_finite = 0;  ///< the share of gradients that are infinite or NaN
};

/// weight and gradient of one shape, f32 or f64; the gradient and the weight of before may be undefined.
ParameterStatistics parameter_statistics(const Tensor& weight, const Tensor& gradient, const Tensor& before);

}  // namespace heed::study
