#include "gradient_flow/attention_stack.h"

namespace heed::gradient_flow {

AttentionBlock::AttentionBlock(const AttentionStackOptions& o)
    : has_residual_(o.residual),
      residual_({.width = o.width, .norm = nn::NormPlace::pre}),
      norm_({.width = o.width}) {
  if (has_residual_)
    child("residual", residual_);
  else
    child("norm", norm_);
  if (o.score == nn::ScoreKind::dot) {
    child("attention", dot_.emplace(nn::MultiHeadAttentionOptions{.width = o.width, .heads = o.heads}));
    return;
  }
  child("attention", additive_.emplace(nn::AdditiveAttentionOptions{
                         .query_width = o.width, .key_width = o.width, .hidden = o.width}));
  child("out_proj", out_proj_.emplace(nn::LinearOptions{.inputs = o.width, .outputs = o.width}));
}

Variable AttentionBlock::attend(const Variable& x) {
  return dot_ ? (*dot_)(x) : (*out_proj_)((*additive_)(x, x, x));
}

Variable AttentionBlock::forward(const Variable& x) {
  const Variable input = point("input", x);
  if (!has_residual_) return attend(norm_(input));
  return residual_(input, [this](const Variable& branch) { return attend(branch); });
}

AttentionStack::AttentionStack(const AttentionStackOptions& options)
    : embedding_({.rows = options.letters, .width = options.width}),
      position_({.width = options.width}),
      norm_({.width = options.width}),
      output_({.inputs = options.width, .outputs = options.letters}) {
  for (int64_t i = 0; i < options.layers; ++i) layers_.add(options);
  child("embedding", embedding_);
  child("position", position_);
  child("layers", layers_);
  child("norm", norm_);
  child("output", output_);
}

Variable AttentionStack::forward(const Tensor& ids) {
  Variable x = position_(embedding_(ids));
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x);
  return output_(norm_(x));
}

}  // namespace heed::gradient_flow
