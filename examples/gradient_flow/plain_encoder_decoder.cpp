#include "gradient_flow/plain_encoder_decoder.h"

#include <heed/autograd/ops/index.h>

namespace heed::gradient_flow {

PlainEncoderDecoder::PlainEncoderDecoder(const PlainEncoderDecoderOptions& o)
    : source_embedding_({.rows = o.source_vocabulary, .width = o.width}),
      target_embedding_({.rows = o.target_vocabulary, .width = o.width}),
      encoder_({.inputs = o.width, .hidden = o.width}),
      decoder_({.inputs = o.width, .hidden = o.width}),
      output_({.inputs = o.width, .outputs = o.target_vocabulary}) {
  child("source_embedding", source_embedding_);
  child("target_embedding", target_embedding_);
  child("encoder", encoder_);
  child("decoder", decoder_);
  child("output", output_);
}

nn::RecurrentState PlainEncoderDecoder::encode(const Tensor& source, const Tensor& source_lengths) {
  return encoder_(source_embedding_(source), source_lengths).state;
}

Variable PlainEncoderDecoder::forward(const Tensor& source, const Tensor& source_lengths,
                                      const Tensor& target_in, const Tensor& places) {
  const Variable decoded =
      decoder_(target_embedding_(target_in), Tensor(), encode(source, source_lengths)).output;
  return output_(nn::at_places(decoded, places));
}

class PlainEncoderDecoder::Steps : public nn::Decoding {
 public:
  Steps(PlainEncoderDecoder& model, nn::RecurrentState state) : model_(model), state_(std::move(state)) {}

  Variable step(const Tensor& ids) override {
    return model_.output_(model_.decoder_.step(model_.target_embedding_(ids), state_));
  }

  std::vector<Tensor> attention() const override { return {nn::kept_weights({})}; }

  void select(const Tensor& rows) override {
    for (Variable& layer : state_) layer = index_select(layer, 0, rows);
  }

 private:
  PlainEncoderDecoder& model_;
  nn::RecurrentState state_;
};

std::unique_ptr<nn::Decoding> PlainEncoderDecoder::start(const Tensor& source, const Tensor& source_lengths,
                                                         const nn::DecodingOptions&) {
  return std::make_unique<Steps>(*this, encode(source, source_lengths));
}

}  // namespace heed::gradient_flow
