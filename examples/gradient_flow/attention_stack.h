#pragma once

#include <heed/nn/bahdanau.h>
#include <heed/nn/position.h>
#include <heed/nn/transformer.h>

namespace heed::gradient_flow {

struct AttentionStackOptions {
  int64_t letters = 0;  ///< of the alphabet
  int64_t width = 0;
  int64_t layers = 1;
  int64_t heads = 1;                         ///< of dot-product attention
  bool residual = true;                      ///< x + f(norm(x)), or f(norm(x)) alone
  nn::ScoreKind score = nn::ScoreKind::dot;  ///< additive: with one head
};

/// Self-attention, behind a norm, with or without the residual connection around it.
class AttentionBlock : public nn::Layer<AttentionBlock> {
 public:
  explicit AttentionBlock(const AttentionStackOptions& options);
  /// x (batch, length, width) -> the same shape. Point: input, x.
  Variable forward(const Variable& x);

 private:
  Variable attend(const Variable& x);

  bool has_residual_;
  nn::Residual residual_;
  nn::LayerNorm norm_;  // without the residual
  std::optional<nn::MultiHeadAttention> dot_;
  std::optional<nn::AdditiveAttention> additive_;  // of x itself; what it finds is projected
  std::optional<nn::Linear> out_proj_;
};

/// Embedded letters and their places, blocks of self-attention, a norm, and a letter for each place: the
/// least that can learn a rule on sequences, so that nothing but attention passes gradient between places.
class AttentionStack : public nn::Layer<AttentionStack> {
 public:
  explicit AttentionStack(const AttentionStackOptions& options);
  /// ids i64 (batch, length) -> logits (batch, length, letters).
  Variable forward(const Tensor& ids);

 private:
  nn::Embedding embedding_;
  nn::SinusoidalPosition position_;
  nn::ModuleList<AttentionBlock> layers_;
  nn::LayerNorm norm_;
  nn::Linear output_;
};

}  // namespace heed::gradient_flow
