#include <cmath>

#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/views.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/kernels/index.h>

namespace heed::nn {
namespace {

TransformerOptions stack_options(const TransformerModelOptions& options) {
  TransformerOptions stack = options.stack;
  if (options.position == PositionKind::rotary) {
    stack.rotary = true;
    stack.max_length = options.max_length;
  }
  return stack;
}

}  // namespace

TransformerModel::TransformerModel(const TransformerModelOptions& o)
    : embedding_scale_(std::sqrt(static_cast<double>(o.stack.width))),
      source_embedding_({.rows = o.source_vocabulary, .width = o.stack.width}),
      target_embedding_({.rows = o.target_vocabulary, .width = o.stack.width}),
      dropout_(o.stack.dropout),
      encoder_(stack_options(o)),
      decoder_(stack_options(o)),
      output_({.inputs = o.stack.width, .outputs = o.target_vocabulary}) {
  child("source_embedding", source_embedding_);
  child("target_embedding", target_embedding_);
  const PositionOptions position{.width = o.stack.width, .max_length = o.max_length};
  if (o.position == PositionKind::sinusoidal) child("position", sinusoidal_.emplace(position));
  if (o.position == PositionKind::learned) child("position", learned_.emplace(position));
  child("dropout", dropout_);
  child("encoder", encoder_);
  child("decoder", decoder_);
  child("output", output_);
}

Variable TransformerModel::embed(Embedding& embedding, const Tensor& ids, int64_t offset) {
  Variable x = embedding(ids) * embedding_scale_;
  if (sinusoidal_) x = (*sinusoidal_)(x, offset);
  if (learned_) x = (*learned_)(x, offset);
  return dropout_(x);
}

Variable TransformerModel::encode(const Tensor& source, const Tensor& source_lengths) {
  return encoder_(embed(source_embedding_, source), Mask::valid_lengths(source_lengths));
}

Variable TransformerModel::forward(const Tensor& source, const Tensor& source_lengths,
                                   const Tensor& target_in, const Tensor& places) {
  const Variable memory = encode(source, source_lengths);
  const Variable decoded =
      decoder_(embed(target_embedding_, target_in), memory, Mask::valid_lengths(source_lengths));
  return output_(at_places(decoded, places));
}

class TransformerModel::Steps : public Decoding {
 public:
  Steps(TransformerModel& model, const Variable& memory, Tensor lengths, const DecodingOptions& options)
      : model_(model), cache_(model.decoder_.start(memory)), lengths_(std::move(lengths)) {
    for (auto& layer : cache_) layer.keep_weights = options.attention;
  }

  Variable step(const Tensor& ids) override {
    const Variable x = model_.embed(model_.target_embedding_, ids.unsqueeze(1), place_++);
    return model_.output_(model_.decoder_.step(x, cache_, Mask::valid_lengths(lengths_))).squeeze(1);
  }

  std::vector<Tensor> attention() const override {
    std::vector<Tensor> weights;
    for (const auto& layer : cache_) weights.push_back(kept_weights(layer.weights).squeeze(2));
    return weights;
  }

  void select(const Tensor& rows) override {
    lengths_ = kernels::index_select(lengths_, 0, rows);
    for (auto& layer : cache_) {
      select_rows(layer.memory, rows);
      if (place_ > 0) select_rows(layer.own, rows);
    }
  }

 private:
  static void select_rows(KeysValues& cached, const Tensor& rows) {
    cached = {index_select(cached.keys, 0, rows), index_select(cached.values, 0, rows)};
  }

  TransformerModel& model_;
  TransformerDecoder::Cache cache_;
  Tensor lengths_;  // i64 (batch), of the sources
  int64_t place_ = 0;
};

std::unique_ptr<Decoding> TransformerModel::start(const Tensor& source, const Tensor& source_lengths,
                                                  const DecodingOptions& options) {
  return std::make_unique<Steps>(*this, encode(source, source_lengths), source_lengths, options);
}

}  // namespace heed::nn
