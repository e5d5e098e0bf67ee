#pragma once

#include <heed/nn/attention.h>
#include <heed/nn/embedding.h>
#include <heed/nn/encoder_decoder.h>
#include <heed/nn/recurrent.h>

namespace heed::nn {

struct BahdanauOptions {
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;
  int64_t width = 0;  ///< of embeddings, states and the attention's hidden layer
  int64_t layers = 1;
  double dropout = 0;  ///< between recurrent layers, and of the attention weights
};

/// A GRU reads the source; its last state starts a second GRU that writes the target. Before each step the
/// decoder's top state asks the encoder's outputs by additive attention, and the step's input is the answer
/// next to the embedded word. Bahdanau, Cho, Bengio (2014), with one direction in the encoder.
class Bahdanau : public EncoderDecoder {
 public:
  explicit Bahdanau(const BahdanauOptions& options);
  Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in) override;
  std::unique_ptr<Decoding> start(const Tensor& source, const Tensor& source_lengths) override;

 private:
  /// The encoded source: outputs (batch, source length, width), the same projected to keys, and where it
  /// ends.
  struct Memory {
    Variable values, keys;
    Mask mask;
  };
  class Steps;
  std::pair<Memory, RecurrentState> encode(const Tensor& source, const Tensor& source_lengths);
  /// embedded (batch, width) -> the decoder's output (batch, width)
  Variable advance(const Variable& embedded, const Memory& memory, RecurrentState& state);

  Embedding source_embedding_, target_embedding_;
  GRU encoder_;
  AdditiveAttention attention_;
  GRU decoder_;
  Linear output_;
};

}  // namespace heed::nn
