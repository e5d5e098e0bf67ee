#pragma once

#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/record.h>
#include <heed/nn/dropout.h>
#include <heed/nn/mask.h>
#include <heed/nn/score.h>

/// Attention as pooling: one value is made of many, more of those whose keys answer the query.
namespace heed::nn {

/// What attention gives: the pooled values, and how much of each value went in.
struct Attended {
  Variable output;   ///< (batch, queries, value width)
  Variable weights;  ///< (batch, queries, keys), or (batch, heads, queries, keys) for several heads; before
                     ///< dropout
};

/// The sums of the values (batch, keys, any) by the weights (batch, queries, keys) after dropout.
Variable pool(const Variable& weights, const Variable& values, Dropout& dropout);

template <class Score>
struct AttentionPoolingOptions {
  typename Score::Options score = {};
  double dropout = 0;  ///< of the weights
};

/// f(q, (k_1, v_1) ... (k_m, v_m)) = sum_i softmax_i(a(q, k_i)) v_i with any score a:
///   AttentionPooling<GaussianScore> kernel({.score = {.w = 2, .learnable = true}});
/// The parameters are those of the score, below "score". A score of one's own is a layer with `Options` and
/// `forward(q, k)`. Two have faster forms of the same: AdditiveAttention projects its keys once, and
/// DotProductAttention never holds all weights in memory. It shows the same points as they do.
template <class Score>
class AttentionPooling : public Layer<AttentionPooling<Score>> {
 public:
  explicit AttentionPooling(const AttentionPoolingOptions<Score>& options = {})
      : score_(options.score), dropout_(options.dropout) {
    this->child("score", score_);
    this->child("dropout", dropout_);
  }
  /// q (batch, queries, query width), k (batch, keys, key width), v (batch, keys, any) -> (batch, queries,
  /// any).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {}) {
    return attend(q, k, v, mask).output;
  }
  Attended attend(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {}) {
    const Variable query = this->point("query", alias(this->point("input", q)));
    const Variable key = this->point("key", alias(k)), value = this->point("value", alias(v));
    const Variable scores =
        this->point("scores", scores_of_seen(query, without_hidden(key, mask, q.size(1)), mask, score_));
    const Variable weights = this->point("weights", masked_softmax(scores, mask));
    const Variable pooled = this->point("heads", pool(weights, value, dropout_));
    return {this->point("output", pooled), weights};
  }

 private:
  Score score_;
  Dropout dropout_;
};

/// The largest of the values that a query may see, column by column: no weights, and no part of queries and
/// keys but their number. A query that may see no key gets zeros.
class MaxPooling : public Layer<MaxPooling> {
 public:
  /// As AttentionPooling.
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});
};

}  // namespace heed::nn
