#pragma once

#include <heed/nn/dropout.h>
#include <heed/nn/linear.h>
#include <heed/nn/mask.h>

/// Attention, from one score function to many heads. In all of them
///   f(q, (k_1, v_1) ... (k_m, v_m)) = sum_i softmax_i(a(q, k_i)) v_i
/// and they differ in the score a. A query that may see no key gives zeros.
namespace heed::nn {

/// What attention gives: the pooled values, and how much of each value went in.
struct Attended {
  Variable output;   ///< (batch, queries, value width)
  Variable weights;  ///< (batch, queries, keys), or (batch, heads, queries, keys) for several heads; before
                     ///< dropout
};

struct AdditiveAttentionOptions {
  int64_t query_width = 0;
  int64_t key_width = 0;
  int64_t hidden = 0;
  double dropout = 0;  ///< of the weights
};

/// a(q, k) = w_v^T tanh(W_q q + W_k k), without biases. Parameters: q_proj.weight (hidden, query_width),
/// k_proj.weight (hidden, key_width), w_v (hidden). Bahdanau, Cho, Bengio (2014).
class AdditiveAttention : public Layer<AdditiveAttention> {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options);
  /// q (batch, queries, query_width), k (batch, keys, key_width), v (batch, keys, any).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});
  /// W_k k: once, where the same keys are asked many times.
  Variable project_keys(const Variable& k);
  /// The same as forward with keys that were projected before.
  Attended attend(const Variable& q, const Variable& projected_keys, const Variable& v,
                  const Mask& mask = {});

 private:
  Linear q_proj_, k_proj_;
  Variable w_v_;
  Dropout dropout_;
};

struct DotProductAttentionOptions {
  bool scaled = true;  ///< divide the scores by sqrt(width)
  double dropout = 0;  ///< of the weights
};

/// a(q, k) = q . k / sqrt(width), or q . k unscaled. Queries and keys have one width; no parameters.
class DotProductAttention : public Layer<DotProductAttention> {
 public:
  explicit DotProductAttention(const DotProductAttentionOptions& options = {});
  /// q (batch, queries, width), k (batch, keys, width), v (batch, keys, any) -> (batch, queries, any).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});
  Attended attend(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});

 private:
  bool scaled_;
  Dropout dropout_;
};

struct SelfAttentionOptions {
  int64_t width = 0;       ///< of the input
  int64_t head_width = 0;  ///< of queries, keys and values
  double dropout = 0;
};

/// One head over one sequence: q = W_q x, k = W_k x, v = W_v x, no biases, scaled dot-product.
class SelfAttention : public Layer<SelfAttention> {
 public:
  explicit SelfAttention(const SelfAttentionOptions& options);
  /// x (batch, length, width) -> (batch, length, head_width).
  Variable forward(const Variable& x, const Mask& mask = {});
  Attended attend(const Variable& x, const Mask& mask = {});

 private:
  Linear q_proj_, k_proj_, v_proj_;
  DotProductAttention attention_;
};

struct MultiHeadAttentionOptions {
  int64_t width = 0;
  int64_t heads = 1;
  double dropout = 0;  ///< of the weights
  bool bias = true;
};

/// Projected keys and values, (batch, keys, width) each: what stays the same from one decoding step to the
/// next.
struct KeysValues {
  Variable keys, values;
};

/// Several heads side by side, each with its own slice of the projections:
///   head_h = softmax((W_q q)_h (W_k k)_h^T / sqrt(width / heads)) (W_v v)_h,  output = W_o [head_1; ...;
///   head_H]
/// Parameters: q_proj, k_proj, v_proj and out_proj, each weight (width, width), Xavier, and bias (width),
/// zeros. Vaswani et al., "Attention is all you need" (2017).
class MultiHeadAttention : public Layer<MultiHeadAttention> {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);
  /// Self-attention: x (batch, length, width).
  Variable forward(const Variable& x, const Mask& mask = {});
  /// q (batch, queries, width), k and v (batch, keys, width).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});

  KeysValues project(const Variable& k, const Variable& v);
  Variable attend(const Variable& q, const KeysValues& projected, const Mask& mask = {});
  /// The same output to the last bit, and the weights.
  Attended attend_with_weights(const Variable& q, const KeysValues& projected, const Mask& mask = {});

 private:
  Attended run(const Variable& q, const KeysValues& projected, const Mask& mask, bool want_weights);

  int64_t heads_;
  double scale_;
  Linear q_proj_, k_proj_, v_proj_, out_proj_;
  Dropout dropout_;
};

}  // namespace heed::nn
