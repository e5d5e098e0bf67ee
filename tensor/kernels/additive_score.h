#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// score_ij = sum_h weight_h tanh(q_ih + k_jh): q (batch, queries, hidden), k (batch, keys, hidden), weight
/// (hidden) -> (batch, queries, keys). The sums q_i + k_j never exist as an array.
/// Bahdanau, Cho, Bengio, "Neural machine translation by jointly learning to align and translate" (2014).
Tensor additive_score(const Tensor& q, const Tensor& k, const Tensor& weight);

struct AdditiveScoreGrads {
  Tensor q, k, weight;
};

/// grad: (batch, queries, keys). The tanh are computed again rather than kept.
AdditiveScoreGrads additive_score_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                           const Tensor& weight);

}  // namespace heed::kernels
