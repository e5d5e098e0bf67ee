#pragma once

#include <heed/tensor/kernels/mask.h>
#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// What attention takes beside queries, keys and values.
struct AttentionOptions {
  int64_t heads = 1;
  double scale = 1;  ///< the scores are multiplied by it: 1 / sqrt(d) for scaled dot-product attention
  Mask mask = {};
  Tensor dropout_keep = {};  ///< bool (batch, heads, queries, keys) or undefined: drops weights
  double dropout = 0;        ///< the probability that dropout_keep was drawn with
  bool want_weights = false;
  bool want_scores = false;
  bool want_gradients = false;  ///< those of weights and scores, from the backward
};

struct Attention {
  Tensor output;     ///< (batch, queries, heads * value width)
  Tensor logsumexp;  ///< (batch, heads, queries), for the backward; f32 for bf16
  Tensor weights;    ///< (batch, heads, queries, keys) before dropout, on request
  Tensor scores;     ///< (batch, heads, queries, keys) scaled, before the mask, on request
};

/// Masked dot-product attention, each head by itself:
///   weights_h = softmax_k(scale * q_h k_h^T, masked),  output_h = dropout(weights_h) v_h
/// q: (batch, queries, heads * d), k: (batch, keys, heads * d), v: (batch, keys, heads * e); head h owns
/// columns h * d ... of each. The weights are never all in memory at once unless they are asked for, and
/// asking changes no bit of the output. A query that sees nothing gives zeros. A key of weight exactly 0, as
/// a hidden one has, adds nothing to output and gradients, whatever stands in it and in its value: not even
/// NaN. f32, f64 or bf16, which is computed in f32 and each result rounded once. Vaswani et al., "Attention
/// is all you need" (2017); blocks and saved log-sums after Dao et al., "FlashAttention" (2022).
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options);

struct AttentionGrads {
  Tensor q, k, v;
  /// On request, (batch, heads, queries, keys) each, of what the forward hands out under the same names: the
  /// weights before dropout and the scaled scores before the mask. A query that sees nothing has zeros. Of
  /// another query a hidden key has a gradient of its weight too, as the formula gives it, though the mask
  /// holds the weight at 0 (or 0 where that is not finite); that of its score is 0.
  Tensor weights, scores;
};

/// grad: that of the output; grad_weights: that of the weights before dropout, or undefined. With P the
/// weights, D the dropout and S the scaled scores,
///   dV = (D P)^T dO,  dP = D (dO V^T) + grad_weights,  dS = P (dP - sum_k P dP),
///   dQ = scale dS K,  dK = scale dS^T Q
/// Asking for dP and dS changes no bit of the others, and costs their memory.
AttentionGrads attention_backward(const Tensor& grad, const Tensor& grad_weights, const Tensor& q,
                                  const Tensor& k, const Tensor& v, const Tensor& logsumexp,
                                  const AttentionOptions& options);

}  // namespace heed::kernels
