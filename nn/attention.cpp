#include <heed/nn/attention.h>

#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/views.h>
#include <heed/nn/init.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/dropout.h>

namespace heed::nn {
namespace {

/// The options of the fused op, with a dropout mask for (batch, heads, queries, keys) where one is needed.
AttentionOptions fused_options(const Variable& q, const Variable& k, int64_t heads, double scale,
                               const Mask& mask, double dropout, bool want_weights) {
  AttentionOptions options{
      .heads = heads, .scale = scale, .mask = mask, .dropout = dropout, .want_weights = want_weights};
  if (dropout > 0)
    options.dropout_keep =
        kernels::dropout_mask({q.size(0), heads, q.size(1), k.size(1)}, dropout, default_generator());
  return options;
}

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
  return attend(q, project_keys(k), v, mask).output;
}

Attended AdditiveAttention::attend(const Variable& q, const Variable& projected_keys, const Variable& v,
                                   const Mask& mask) {
  expect_sequences("AdditiveAttention", {&q, &projected_keys, &v});
  return pool(score_projected(q, projected_keys), v, mask, dropout_);
}

DotProductAttention::DotProductAttention(const DotProductAttentionOptions& options)
    : scaled_(options.scaled), dropout_(options.dropout) {
  child("dropout", dropout_);
}

Variable DotProductAttention::forward(const Variable& q, const Variable& k, const Variable& v,
                                      const Mask& mask) {
  expect_sequences("DotProductAttention", {&q, &k, &v});
  const double scale = scaled_ ? dot_product_scale(q.size(2)) : 1;
  return attention(q, k, v, fused_options(q, k, 1, scale, mask, dropout_.active_p(), false)).output;
}

Attended DotProductAttention::attend(const Variable& q, const Variable& k, const Variable& v,
                                     const Mask& mask) {
  expect_sequences("DotProductAttention", {&q, &k, &v});
  const double scale = scaled_ ? dot_product_scale(q.size(2)) : 1;
  auto result = attention(q, k, v, fused_options(q, k, 1, scale, mask, dropout_.active_p(), true));
  return {result.output, result.weights.squeeze(1)};
}

SelfAttention::SelfAttention(const SelfAttentionOptions& options)
    : q_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      k_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      v_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}),
      attention_({.dropout = options.dropout}) {
  child("q_proj", q_proj_);
  child("k_proj", k_proj_);
  child("v_proj", v_proj_);
  child("attention", attention_);
}

Variable SelfAttention::forward(const Variable& x, const Mask& mask) {
  return attention_(q_proj_(x), k_proj_(x), v_proj_(x), mask);
}

Attended SelfAttention::attend(const Variable& x, const Mask& mask) {
  return attention_.attend(q_proj_(x), k_proj_(x), v_proj_(x), mask);
}

Variable SelfAttention::output_at(const Variable& x, int64_t i, const Mask& mask) {
  return attention_(q_proj_(x.select(1, i).unsqueeze(1)), k_proj_(x), v_proj_(x), mask).squeeze(1);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : heads_(options.heads),
      scale_(head_scale(options)),
      q_proj_(input_weight(options), zero_bias(options)),
      k_proj_(input_weight(options, options.key_width), zero_bias(options)),
      v_proj_(input_weight(options, options.value_width), zero_bias(options)),
      out_proj_(xavier_uniform({options.width, options.width}), zero_bias(options)),
      dropout_(options.dropout) {
  child("q_proj", q_proj_);
  child("k_proj", k_proj_);
  child("v_proj", v_proj_);
  child("out_proj", out_proj_);
  if (options.rotary) {
    const int64_t head_width = options.width / options.heads;
    child("rotary", rotary_.emplace(PositionOptions{.width = head_width, .max_length = options.max_length}));
  }
  child("dropout", dropout_);
}

Variable MultiHeadAttention::forward(const Variable& x, const Mask& mask) { return forward(x, x, x, mask); }

Variable MultiHeadAttention::forward(const Variable& q, const Variable& k, const Variable& v,
                                     const Mask& mask) {
  return attend(q, project(k, v), mask);
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
  const auto options =
      fused_options(q, projected.keys, heads_, scale_, mask, dropout_.active_p(), want_weights);
  Variable queries = q_proj_(q);
  if (rotary_) queries = (*rotary_)(queries, projected.keys.size(1) - q.size(1));
  auto result = attention(queries, projected.keys, projected.values, options);
  return {out_proj_(result.output), result.weights};
}

}  // namespace heed::nn
