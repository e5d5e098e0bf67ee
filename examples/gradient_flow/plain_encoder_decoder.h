#pragma once

#include <heed/nn/embedding.h>
#include <heed/nn/encoder_decoder.h>
#include <heed/nn/linear.h>
#include <heed/nn/recurrent.h>

namespace heed::gradient_flow {

struct PlainEncoderDecoderOptions {
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;
  int64_t width = 0;  ///< of embeddings and states
};

/// nn::Bahdanau without its attention: a GRU reads the source, and its last state is all that the GRU which
/// writes the target is given of it. Cho et al., "Learning phrase representations using RNN encoder-decoder"
/// (2014).
class PlainEncoderDecoder : public nn::EncoderDecoder {
 public:
  explicit PlainEncoderDecoder(const PlainEncoderDecoderOptions& options);
  Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in,
                   const Tensor& places = {}) override;
  /// attention() of the decoding is a ValueError: there is none.
  std::unique_ptr<nn::Decoding> start(const Tensor& source, const Tensor& source_lengths,
                                      const nn::DecodingOptions& options = {}) override;

 private:
  class Steps;
  nn::RecurrentState encode(const Tensor& source, const Tensor& source_lengths);

  nn::Embedding source_embedding_, target_embedding_;
  nn::GRU encoder_, decoder_;
  nn::Linear output_;
};

}  // namespace heed::gradient_flow
