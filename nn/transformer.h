#pragma once

#include <optional>

#include <heed/nn/attention.h>
#include <heed/nn/norm.h>

namespace heed::nn {

/// Where a sublayer's norm stands: x + f(norm(x)), or norm(x + f(x)) as in the paper.
enum class NormPlace { pre, post };

struct TransformerOptions {
  int64_t width = 0;
  int64_t feed_forward = 0;
  int64_t heads = 1;
  int64_t layers = 1;
  double dropout = 0;  ///< of each sublayer's result, of the attention weights, and inside the feed-forward
  NormPlace norm = NormPlace::post;
  bool rotary = false;                               ///< rotary positions in self-attention
  int64_t max_length = 512;                          ///< of rotary positions
  ActivationKind activation = ActivationKind::relu;  ///< inside the feed-forward
  bool final_norm = true;                            ///< behind the last layer of a stack
  ScoreChoice score = {};  ///< of all attention; scaled dot products unless chosen: MultiHeadAttentionOptions
};

/// f(x W_1 + b_1) W_2 + b_2 at each place by itself, with f the ReLU, as in the paper, or another activation.
class FeedForward : public Layer<FeedForward> {
 public:
  FeedForward(int64_t width, int64_t hidden, double dropout,
              ActivationKind activation = ActivationKind::relu);
  Variable forward(const Variable& x);

 private:
  Linear inner_, outer_;
  Dropout dropout_;
};

/// A sublayer's surroundings: dropout, the residual connection and the norm. Its points, (batch, length,
/// width):
///   input     x
///   branch    what f is given: norm(x), or x
///   residual  x + dropout(f(branch)), before a norm that comes after; its gradient is what x gets past f
class Residual : public Layer<Residual> {
 public:
  explicit Residual(const TransformerOptions& options);
  /// f is what stands inside: a function of (batch, length, width).
  template <class F>
  Variable forward(const Variable& x, F&& f) {
    const Variable input = point("input", x);
    const Variable branch = point("branch", place_ == NormPlace::pre ? norm_(input) : input);
    const Variable sum = point("residual", input + dropout_(f(branch)));
    return place_ == NormPlace::pre ? sum : norm_(sum);
  }

 private:
  NormPlace place_;
  LayerNorm norm_;
  Dropout dropout_;
};

/// Self-attention and feed-forward, each in its residual.
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  explicit TransformerEncoderLayer(const TransformerOptions& options);
  Variable forward(const Variable& x, const Mask& mask);

 private:
  MultiHeadAttention self_attention_;
  FeedForward feed_forward_;
  Residual self_attention_residual_, feed_forward_residual_;
};

/// A stack of encoder layers and a norm at its end, unless without: x (batch, length, width) -> the same
/// shape.
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  explicit TransformerEncoder(const TransformerOptions& options);
  Variable forward(const Variable& x, const Mask& mask = {});

 private:
  ModuleList<TransformerEncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

/// Causal self-attention, attention to the encoder's output, and feed-forward, each in its residual.
class TransformerDecoderLayer : public Layer<TransformerDecoderLayer> {
 public:
  explicit TransformerDecoderLayer(const TransformerOptions& options);
  Variable forward(const Variable& x, const Variable& memory, const Mask& memory_mask);

  /// What a step-by-step pass keeps: the keys and values of all places so far, and those of the memory.
  struct Cache {
    KeysValues own, memory;
    bool keep_weights = false;
    Variable weights =
        {};  ///< of the last step's attention to the memory, (batch, heads, 1, keys), where kept
  };
  Cache start(const Variable& memory);
  /// The next place, x (batch, 1, width).
  Variable step(const Variable& x, Cache& cache, const Mask& memory_mask);

 private:
  MultiHeadAttention self_attention_, cross_attention_;
  FeedForward feed_forward_;
  Residual self_attention_residual_, cross_attention_residual_, feed_forward_residual_;
};

/// A stack of decoder layers and a norm at its end, unless without.
class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  explicit TransformerDecoder(const TransformerOptions& options);
  /// x (batch, length, width), memory (batch, source length, width).
  Variable forward(const Variable& x, const Variable& memory, const Mask& memory_mask = {});

  using Cache = std::vector<TransformerDecoderLayer::Cache>;
  Cache start(const Variable& memory);
  Variable step(const Variable& x, Cache& cache, const Mask& memory_mask = {});

 private:
  ModuleList<TransformerDecoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

}  // namespace heed::nn
