#include <heed/nn/attention.h>

#include <array>

#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/nn/init.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/dropout.h>

namespace heed::nn {
namespace {

double head_scale(const MultiHeadAttentionOptions& options) {
  if (options.width < 1 || options.heads < 1 || options.width % options.heads != 0)
    raise<ValueError>(
        "[MultiHeadAttention] wanted a width that divides into the heads, came width {} and {} heads",
        options.width, options.heads);
  return dot_product_scale(options.width / options.heads);
}

/// Xavier's bound, as is usual for one matrix that makes queries, keys and values together where it could be
/// one.
Tensor input_weight(const MultiHeadAttentionOptions& options, const std::optional<int64_t>& inputs = {}) {
  const int64_t width = options.width, own = inputs.value_or(width);
  if (own < 1)
    raise<ValueError>("[MultiHeadAttention] wanted keys and values of width 1 or more, came {}", own);
  if (options.key_width.value_or(width) != width || options.value_width.value_or(width) != width)
    return xavier_uniform({width, own});
  return xavier_uniform({3 * width, width}).slice(0, 0, width).clone();
}

Tensor zero_bias(const MultiHeadAttentionOptions& options) {
  return options.bias ? zeros({options.width}) : Tensor();
}

/// (batch, length, heads * d) -> (batch, heads, length, d)
Variable split_heads(const Variable& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// (batch, heads, length, d) -> (batch, length, heads * d)
Variable join_heads(const Variable& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// Projected keys and values that are not the own ones may be of any size.
void expect_fitting(const Variable& q, const KeysValues& projected) {
  const auto& [k, v] = projected;
  const Shape wanted{q.size(0), k.size(1), q.size(2)};
  if (k.shape() != wanted || v.shape() != wanted)
    raise<ShapeError>(
        "[MultiHeadAttention] wanted projected keys and values ({}, keys, {}) for such queries, came {} and "
        "{}",
        q.size(0), q.size(2), k.shape(), v.shape());
}

/// The scores of all heads: q (batch, heads, queries, d), k (batch, heads, keys, d) -> (batch, heads,
/// queries, keys)
Variable checked_scores(HeadScores& score, const Variable& q, const Variable& k) {
  const Variable scores = score(q, k);
  if (const Shape pairs{q.size(0), q.size(1), q.size(2), k.size(2)}; scores.shape() != pairs)
    raise<ShapeError>("[MultiHeadAttention] wanted scores {}, one for each head, query and key, came {}",
                      pairs, scores.shape());
  return scores;
}

std::unique_ptr<HeadScores> chosen_score(const MultiHeadAttentionOptions& options) {
  if (!options.score) return nullptr;
  auto score = options.score(options.heads, options.width / options.heads);
  if (score == nullptr)
    raise<ValueError>("[MultiHeadAttention] wanted a score, came a choice that makes none");
  return score;
}

void expect_sequences(const char* name, std::initializer_list<const Variable*> all) {
  for (const Variable* x : all)
    if (x->rank() != 3) raise<ShapeError>("[{}] wanted (batch, length, width), came {}", name, x->shape());
}

}  // namespace

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& options)
    : Layer({.query_width = options.query_width, .key_width = options.key_width, .hidden = options.hidden}),
      dropout_(options.dropout) {
  child("dropout", dropout_);
}

Variable AdditiveAttention::forward(const Variable& q, const Variable& k, const Variable& v,
                                    const Mask& mask) {
  expect_sequences("AdditiveAttention", {&q, &k, &v});
  const Variable keys = without_hidden(k, mask, q.size(1));
  return attend(q, project_keys(keys), v, mask).output;
}

Attended AdditiveAttention::attend(const Variable& q, const Variable& projected_keys, const Variable& v,
                                   const Mask& mask) {
  expect_sequences("AdditiveAttention", {&q, &projected_keys, &v});
  const Variable input = point("input", q);
  const Variable scores = score_projected(input, projected_keys, mask);  // shows query and key
  const Variable values = point("value", alias(v));
  const Variable weights = point("weights", masked_softmax(point("scores", scores), mask));
  return {point("output", point("heads", pool(weights, values, dropout_))), weights};
}

AttentionResult FusedAttention::attend_fused(const Variable& q, const Variable& k, const Variable& v,
                                             AttentionOptions options) {
  if (options.dropout > 0)
    options.dropout_keep = kernels::dropout_mask({q.size(0), options.heads, q.size(1), k.size(1)},
                                                 options.dropout, default_generator());
  const std::array<Variable, 3> qkv{point("query", alias(q)), point("key", alias(k)),
                                    point("value", alias(v))};
  AttentionResult result =
      is_edited("scores") || is_edited("weights") ? attend_edited(qkv, options) : attend_shown(qkv, options);
  result.output = point("heads", result.output);
  return result;
}

AttentionResult FusedAttention::attend_shown(std::span<const Variable, 3> qkv, AttentionOptions options) {
  const bool watched = is_watched();
  if (watched) options.want_weights = options.want_scores = options.want_gradients = true;
  AttentionResult result = attention(qkv[0], qkv[1], qkv[2], options);
  if (watched) {
    point("scores", result.scores, {result.gradients, &result.gradients->scores});
    point("weights", result.weights, {result.gradients, &result.gradients->weights});
  }
  return result;
}

AttentionResult FusedAttention::attend_edited(std::span<const Variable, 3> qkv,
                                              const AttentionOptions& options) {
  const auto all =
      attention_reference(qkv, options,
                          {.scores = [&](const Variable& scores) { return point("scores", scores); },
                           .weights = [&](const Variable& weights) { return point("weights", weights); }});
  AttentionResult result;
  result.output = all[0];
  result.weights = all[1];
  return result;
}

DotProductAttention::DotProductAttention(const DotProductAttentionOptions& options)
    : scaled_(options.scaled), dropout_(options.dropout) {
  child("dropout", dropout_);
}

Variable DotProductAttention::forward(const Variable& q, const Variable& k, const Variable& v,
                                      const Mask& mask) {
  return run(q, k, v, mask, false).output;
}

Attended DotProductAttention::attend(const Variable& q, const Variable& k, const Variable& v,
                                     const Mask& mask) {
  const AttentionResult result = run(q, k, v, mask, true);
  return {result.output, result.weights.squeeze(1)};
}

AttentionResult DotProductAttention::run(const Variable& q, const Variable& k, const Variable& v,
                                         const Mask& mask, bool want_weights) {
  expect_sequences("DotProductAttention", {&q, &k, &v});
  AttentionResult result = attend_fused(point("input", q), k, v,
                                        {.scale = scaled_ ? dot_product_scale(q.size(2)) : 1,
                                         .mask = mask,
                                         .dropout = dropout_.active_p(),
                                         .want_weights = want_weights});
  result.output = point("output", result.output);
  return result;
}

SelfAttention::SelfAttention(const SelfAttentionOptions& options)
    : scale_(dot_product_scale(options.head_width)),
      q_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      k_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      v_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      dropout_(options.dropout) {
  child("q_proj", q_proj_);
  child("k_proj", k_proj_);
  child("v_proj", v_proj_);
  child("dropout", dropout_);
}

Variable SelfAttention::forward(const Variable& x, const Mask& mask) {
  expect_sequences("SelfAttention", {&x});
  const Variable seen = without_hidden(x, mask, x.size(1));
  return run(seen, seen, mask, false).output;
}

Attended SelfAttention::attend(const Variable& x, const Mask& mask) {
  expect_sequences("SelfAttention", {&x});
  const Variable seen = without_hidden(x, mask, x.size(1));
  const AttentionResult result = run(seen, seen, mask, true);
  return {result.output, result.weights.squeeze(1)};
}

AttentionResult SelfAttention::run(const Variable& places, const Variable& x, const Mask& mask,
                                   bool want_weights) {
  AttentionResult result = attend_fused(
      q_proj_(point("input", places)), k_proj_(x), v_proj_(x),
      {.scale = scale_, .mask = mask, .dropout = dropout_.active_p(), .want_weights = want_weights});
  result.output = point("output", result.output);
  return result;
}

Variable SelfAttention::output_at(const Variable& x, int64_t i, const Mask& mask) {
  expect_sequences("SelfAttention", {&x});
  return run(x.select(1, i).unsqueeze(1), without_hidden(x, mask, 1), mask, false).output.squeeze(1);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : heads_(options.heads),
      scale_(head_scale(options)),
      q_proj_(input_weight(options), zero_bias(options)),
      k_proj_(input_weight(options, options.key_width), zero_bias(options)),
      v_proj_(input_weight(options, options.value_width), zero_bias(options)),
      out_proj_(xavier_uniform({options.width, options.width}), zero_bias(options)),
      score_(chosen_score(options)),
      dropout_(options.dropout) {
  child("q_proj", q_proj_);
  child("k_proj", k_proj_);
  child("v_proj", v_proj_);
  child("out_proj", out_proj_);
  if (options.rotary) {
    const int64_t head_width = options.width / options.heads;
    child("rotary", rotary_.emplace(PositionOptions{.width = head_width, .max_length = options.max_length}));
  }
  if (score_) child("score", *score_);
  child("dropout", dropout_);
}

Variable MultiHeadAttention::forward(const Variable& x, const Mask& mask) {
  expect_sequences("MultiHeadAttention", {&x});
  const Variable seen = without_hidden(x, mask, x.size(1));
  return attend(seen, project(seen, seen), mask);
}

Variable MultiHeadAttention::forward(const Variable& q, const Variable& k, const Variable& v,
                                     const Mask& mask) {
  expect_sequences("MultiHeadAttention", {&q, &k, &v});
  const Variable keys = without_hidden(k, mask, q.size(1));
  const Variable values = v.is_same(k) ? keys : without_hidden(v, mask, q.size(1));
  return attend(q, project(keys, values), mask);
}

KeysValues MultiHeadAttention::project(const Variable& k, const Variable& v, int64_t offset) {
  const Variable keys = k_proj_(k);
  return {rotary_ ? (*rotary_)(keys, offset) : keys, v_proj_(v)};
}

Variable MultiHeadAttention::attend(const Variable& q, const KeysValues& projected, const Mask& mask) {
  return run(q, projected, mask, false).output;
}

Attended MultiHeadAttention::attend_with_weights(const Variable& q, const KeysValues& projected,
                                                 const Mask& mask) {
  return run(q, projected, mask, true);
}

Attended MultiHeadAttention::run(const Variable& q, const KeysValues& projected, const Mask& mask,
                                 bool want_weights) {
  expect_sequences("MultiHeadAttention", {&q, &projected.keys, &projected.values});
  Variable queries = q_proj_(point("input", q));
  if (rotary_) queries = (*rotary_)(queries, projected.keys.size(1) - q.size(1));
  const AttentionResult result = score_ ? attend_scored(queries, projected, mask)
                                        : attend_fused(queries, projected.keys, projected.values,
                                                       {.heads = heads_,
                                                        .scale = scale_,
                                                        .mask = mask,
                                                        .dropout = dropout_.active_p(),
                                                        .want_weights = want_weights});
  return {point("output", out_proj_(result.output)), result.weights};
}

AttentionResult MultiHeadAttention::attend_scored(const Variable& q, const KeysValues& projected,
                                                  const Mask& mask) {
  expect_fitting(q, projected);
  const Variable query = split_heads(point("query", alias(q)), heads_);  // (batch, heads, queries, d)
  const Variable key = split_heads(point("key", alias(projected.keys)), heads_);  // (batch, heads, keys, d)
  const Variable value = split_heads(point("value", alias(projected.values)), heads_);
  const Variable scores =
      point("scores", scores_of_seen(query, key, mask, [this](const Variable& some, const Variable& keys) {
              return checked_scores(*score_, some, keys);
            }));
  const Variable weights = point("weights", masked_softmax(scores, mask));
  return {point("heads", join_heads(weighted_sum(dropout_(weights), value))), weights, {}, {}};
}

}  // namespace heed::nn
