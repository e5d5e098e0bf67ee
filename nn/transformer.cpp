#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/join.h>
#include <heed/nn/transformer.h>

namespace heed::nn {
namespace {

void check_layers(const char* name, const TransformerOptions& options) {
  if (options.layers < 1) raise<ValueError>("[{}] wanted 1 layer or more, came {}", name, options.layers);
}

/// Of attention to a sequence with places of its own.
MultiHeadAttentionOptions cross_options(const TransformerOptions& options) {
  return {.width = options.width, .heads = options.heads, .dropout = options.dropout, .score = options.score};
}

MultiHeadAttentionOptions self_options(const TransformerOptions& options) {
  MultiHeadAttentionOptions result = cross_options(options);
  result.rotary = options.rotary;
  result.max_length = options.max_length;
  return result;
}

}  // namespace

FeedForward::FeedForward(int64_t width, int64_t hidden, double dropout, ActivationKind activation)
    : inner_({.inputs = width, .outputs = hidden, .activation = activation}),
      outer_({.inputs = hidden, .outputs = width}),
      dropout_(dropout) {
  child("inner", inner_);
  child("outer", outer_);
  child("dropout", dropout_);
}

Variable FeedForward::forward(const Variable& x) { return outer_(dropout_(inner_(x))); }

Residual::Residual(const TransformerOptions& options)
    : place_(options.norm), norm_({.width = options.width}), dropout_(options.dropout) {
  child("norm", norm_);
  child("dropout", dropout_);
}

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerOptions& options)
    : self_attention_(self_options(options)),
      feed_forward_(options.width, options.feed_forward, options.dropout, options.activation),
      self_attention_residual_(options),
      feed_forward_residual_(options) {
  child("self_attention", self_attention_);
  child("feed_forward", feed_forward_);
  child("self_attention_residual", self_attention_residual_);
  child("feed_forward_residual", feed_forward_residual_);
}

Variable TransformerEncoderLayer::forward(const Variable& x, const Mask& mask) {
  const Variable seen = without_hidden(x, mask, x.size(1));
  const Variable attended =
      self_attention_residual_(seen, [&](const Variable& inside) { return self_attention_(inside, mask); });
  return feed_forward_residual_(attended, feed_forward_);
}

TransformerEncoder::TransformerEncoder(const TransformerOptions& options) {
  check_layers("TransformerEncoder", options);
  for (int64_t i = 0; i < options.layers; ++i) layers_.add(options);
  child("layers", layers_);
  if (options.final_norm) child("norm", norm_.emplace(LayerNormOptions{.width = options.width}));
}

Variable TransformerEncoder::forward(const Variable& x, const Mask& mask) {
  Variable y = x;
  for (size_t i = 0; i < layers_.size(); ++i) y = layers_[i](y, mask);
  return norm_ ? (*norm_)(y) : y;
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerOptions& options)
    : self_attention_(self_options(options)),
      cross_attention_(cross_options(options)),
      feed_forward_(options.width, options.feed_forward, options.dropout, options.activation),
      self_attention_residual_(options),
      cross_attention_residual_(options),
      feed_forward_residual_(options) {
  child("self_attention", self_attention_);
  child("cross_attention", cross_attention_);
  child("feed_forward", feed_forward_);
  child("self_attention_residual", self_attention_residual_);
  child("cross_attention_residual", cross_attention_residual_);
  child("feed_forward_residual", feed_forward_residual_);
}

Variable TransformerDecoderLayer::forward(const Variable& x, const Variable& memory,
                                          const Mask& memory_mask) {
  Variable y = self_attention_residual_(
      x, [&](const Variable& inside) { return self_attention_(inside, Mask::causal_order()); });
  y = cross_attention_residual_(
      y, [&](const Variable& inside) { return cross_attention_(inside, memory, memory, memory_mask); });
  return feed_forward_residual_(y, feed_forward_);
}

TransformerDecoderLayer::Cache TransformerDecoderLayer::start(const Variable& memory) {
  return {.own = {}, .memory = cross_attention_.project(memory, memory)};
}

Variable TransformerDecoderLayer::step(const Variable& x, Cache& cache, const Mask& memory_mask) {
  Variable y = self_attention_residual_(x, [&](const Variable& inside) {
    const int64_t place = cache.own.keys.defined() ? cache.own.keys.size(1) : 0;
    KeysValues next = self_attention_.project(inside, inside, place);
    if (cache.own.keys.defined())
      next = {concat({cache.own.keys, next.keys}, 1), concat({cache.own.values, next.values}, 1)};
    cache.own = next;
    return self_attention_.attend(inside, cache.own);
  });
  y = cross_attention_residual_(y, [&](const Variable& inside) {
    if (!cache.keep_weights) return cross_attention_.attend(inside, cache.memory, memory_mask);
    const Attended attended = cross_attention_.attend_with_weights(inside, cache.memory, memory_mask);
    cache.weights = attended.weights;
    return attended.output;
  });
  return feed_forward_residual_(y, feed_forward_);
}

TransformerDecoder::TransformerDecoder(const TransformerOptions& options) {
  check_layers("TransformerDecoder", options);
  for (int64_t i = 0; i < options.layers; ++i) layers_.add(options);
  child("layers", layers_);
  if (options.final_norm) child("norm", norm_.emplace(LayerNormOptions{.width = options.width}));
}

Variable TransformerDecoder::forward(const Variable& x, const Variable& memory, const Mask& memory_mask) {
  Variable y = x;
  for (size_t i = 0; i < layers_.size(); ++i) y = layers_[i](y, memory, memory_mask);
  return norm_ ? (*norm_)(y) : y;
}

TransformerDecoder::Cache TransformerDecoder::start(const Variable& memory) {
  Cache cache;
  for (size_t i = 0; i < layers_.size(); ++i) cache.push_back(layers_[i].start(memory));
  return cache;
}

Variable TransformerDecoder::step(const Variable& x, Cache& cache, const Mask& memory_mask) {
  Variable y = x;
  for (size_t i = 0; i < layers_.size(); ++i) y = layers_[i].step(y, cache[i], memory_mask);
  return norm_ ? (*norm_)(y) : y;
}

}  // namespace heed::nn
