#pragma once

#include <optional>

#include <heed/autograd/ops/attention.h>
#include <heed/nn/head_scores.h>
#include <heed/nn/pooling.h>
#include <heed/nn/position.h>

/// Attention, from one score function to many heads. In all of them
///   f(q, (k_1, v_1) ... (k_m, v_m)) = sum_i softmax_i(a(q, k_i)) v_i
/// and they differ in the score a. A query that may see no key gives zeros. Of one head with any other score:
/// pooling.h.
///
/// Each of them shows the same points to those who watch it (Module::register_point_hook):
///   input    the first argument, of which the queries are made
///   query    (batch, queries, width), key and value (batch, keys, width), projected, heads side by side
///   scores   (batch, heads, queries, keys), scaled, before the mask; without the axis of heads where there
///            is one alone and its score is no product
///   weights  as the scores: their softmax under the mask, before dropout
///   heads    (batch, queries, width), the pooled values, heads side by side
///   output   (batch, queries, width)
/// The gradients of query, key and value are what this call of the attention sends, whoever else uses them.
/// Scores and weights of dot products are otherwise never all in memory, and their gradients are what
/// kernels::AttentionGrads says.
namespace heed::nn {

struct AdditiveAttentionOptions {
  int64_t query_width = 0;
  int64_t key_width = 0;
  int64_t hidden = 0;
  double dropout = 0;  ///< of the weights
};

/// Pooling with an AdditiveScore, whose parameters it has, and with keys that are projected once.
class AdditiveAttention : public Layer<AdditiveAttention, AdditiveScore> {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options);
  /// q (batch, queries, query_width), k (batch, keys, key_width), v (batch, keys, any).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});
  /// The same as forward with keys from project_keys.
  Attended attend(const Variable& q, const Variable& projected_keys, const Variable& v,
                  const Mask& mask = {});

 private:
  Dropout dropout_;
};

struct DotProductAttentionOptions {
  bool scaled = true;  ///< divide the scores by sqrt(width)
  double dropout = 0;  ///< of the weights
};

/// What attention by dot products has in common.
class FusedAttention : public Module {
 public:
  virtual int64_t heads() const { return 1; }

 protected:
  /// The fused op, with a dropout mask where one is needed. Shows the points from query to heads.
  AttentionResult attend_fused(const Variable& q, const Variable& k, const Variable& v,
                               AttentionOptions options);

 private:
  AttentionResult attend_shown(std::span<const Variable, 3> qkv, AttentionOptions options);
  /// With other scores or weights: composed of single ops.
  AttentionResult attend_edited(std::span<const Variable, 3> qkv, const AttentionOptions& options);
};

/// Pooling with a DotScore, fused: a(q, k) = q . k / sqrt(width), or q . k unscaled. Queries and keys have
/// one width; no parameters.
class DotProductAttention : public Layer<DotProductAttention, FusedAttention> {
 public:
  explicit DotProductAttention(const DotProductAttentionOptions& options = {});
  /// q (batch, queries, width), k (batch, keys, width), v (batch, keys, any) -> (batch, queries, any).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});
  Attended attend(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});

 private:
  AttentionResult run(const Variable& q, const Variable& k, const Variable& v, const Mask& mask,
                      bool want_weights);

  bool scaled_;
  Dropout dropout_;
};

struct SelfAttentionOptions {
  int64_t width = 0;       ///< of the input
  int64_t head_width = 0;  ///< of queries, keys and values
  double dropout = 0;
};

/// One head over one sequence: q = W_q x, k = W_k x, v = W_v x, no biases, scaled dot-product.
class SelfAttention : public Layer<SelfAttention, FusedAttention> {
 public:
  explicit SelfAttention(const SelfAttentionOptions& options);
  /// x (batch, length, width) -> (batch, length, head_width).
  Variable forward(const Variable& x, const Mask& mask = {});
  Attended attend(const Variable& x, const Mask& mask = {});
  /// The output at place i alone, (batch, head_width): there is one query, and the mask is that query's.
  Variable output_at(const Variable& x, int64_t i, const Mask& mask = {});

 private:
  /// The outputs at some places of x.
  AttentionResult run(const Variable& places, const Variable& x, const Mask& mask, bool want_weights);

  double scale_;
  Linear q_proj_, k_proj_, v_proj_;
  Dropout dropout_;
};

struct MultiHeadAttentionOptions {
  int64_t width = 0;
  int64_t heads = 1;
  double dropout = 0;  ///< of the weights
  bool bias = true;
  bool rotary = false;       ///< turn the queries and keys of each head by their places: RotaryPosition
  int64_t max_length = 512;  ///< of rotary positions
  std::optional<int64_t> key_width = std::nullopt;    ///< of the keys that come in, if not width
  std::optional<int64_t> value_width = std::nullopt;  ///< of the values that come in, if not width
  ScoreChoice score = {};  ///< of each head, as each_head<AdditiveScore>({.hidden = 16})
};

/// Projected keys and values, (batch, keys, width) each: what stays the same from one decoding step to the
/// next.
struct KeysValues {
  Variable keys, values;
};

/// Several heads side by side, each with its own slice of the projections:
///   head_h = softmax(a_h((W_q q)_h, (W_k k)_h)) (W_v v)_h,  output = W_o [head_1; ...; head_H]
/// The score a_h is the scaled dot product, (W_q q)_h (W_k k)_h^T / sqrt(width / heads), unless another is
/// chosen. Any other is composed of single ops, and then all scores and weights are in memory. With rotary
/// positions, key j stands at place j and query i at place i + keys - queries: both ends are aligned, as in
/// Mask::causal_order(). Parameters: q_proj, k_proj, v_proj and out_proj, each weight (width, width), that of
/// k_proj (width, key_width) and that of v_proj (width, value_width), Xavier, and bias (width), zeros; those
/// of another score below "score". Vaswani et al., "Attention is all you need" (2017).
class MultiHeadAttention : public Layer<MultiHeadAttention, FusedAttention> {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);
  int64_t heads() const override { return heads_; }
  /// Self-attention: x (batch, length, width).
  Variable forward(const Variable& x, const Mask& mask = {});
  /// q (batch, queries, width), k (batch, keys, key_width), v (batch, keys, value_width).
  Variable forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask = {});

  /// The first of the keys stands at place `offset`.
  KeysValues project(const Variable& k, const Variable& v, int64_t offset = 0);
  Variable attend(const Variable& q, const KeysValues& projected, const Mask& mask = {});
  /// The same output to the last bit, and the weights.
  Attended attend_with_weights(const Variable& q, const KeysValues& projected, const Mask& mask = {});

 private:
  Attended run(const Variable& q, const KeysValues& projected, const Mask& mask, bool want_weights);
  /// By the chosen score. Shows the points from query to heads.
  AttentionResult attend_scored(const Variable& q, const KeysValues& projected, const Mask& mask);

  int64_t heads_;
  double scale_;
  Linear q_proj_, k_proj_, v_proj_, out_proj_;
  std::optional<RotaryPosition> rotary_;
  std::unique_ptr<HeadScores> score_;  // null: scaled dot products
  Dropout dropout_;
};

}  // namespace heed::nn
