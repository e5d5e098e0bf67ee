#pragma once

#include <optional>

#include <heed/nn/embedding.h>
#include <heed/nn/encoder_decoder.h>
#include <heed/nn/position.h>
#include <heed/nn/transformer.h>

namespace heed::nn {

enum class PositionKind { sinusoidal, learned, rotary, none };

struct TransformerModelOptions {
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;
  TransformerOptions stack;  ///< of the encoder and of the decoder
  PositionKind position = PositionKind::sinusoidal;
  int64_t max_length = 512;
};

/// The encoder-decoder of "Attention is all you need": embeddings times sqrt(width) plus positions, the two
/// stacks, and a linear layer to the vocabulary.
class TransformerModel : public EncoderDecoder {
 public:
  explicit TransformerModel(const TransformerModelOptions& options);
  Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in,
                   const Tensor& places = {}) override;
  std::unique_ptr<Decoding> start(const Tensor& source, const Tensor& source_lengths,
                                  const DecodingOptions& options = {}) override;

 private:
  class Steps;
  /// ids (batch, length) whose first place is number `offset` -> (batch, length, width)
  Variable embed(Embedding& embedding, const Tensor& ids, int64_t offset = 0);
  Variable encode(const Tensor& source, const Tensor& source_lengths);

  double embedding_scale_;
  Embedding source_embedding_, target_embedding_;
  std::optional<SinusoidalPosition> sinusoidal_;
  std::optional<LearnedPosition> learned_;
  Dropout dropout_;
  TransformerEncoder encoder_;
  TransformerDecoder decoder_;
  Linear output_;
};

}  // namespace heed::nn
