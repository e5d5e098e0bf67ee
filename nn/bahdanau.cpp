#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/views.h>
#include <heed/nn/bahdanau.h>
#include <heed/tensor/kernels/index.h>

namespace heed::nn {
namespace {

std::optional<AdditiveAttention> additive_attention(const BahdanauOptions& o) {
  if (o.score != ScoreKind::additive) return std::nullopt;
  return std::optional<AdditiveAttention>(
      std::in_place,
      AdditiveAttentionOptions{
          .query_width = o.width, .key_width = o.width, .hidden = o.width, .dropout = o.dropout});
}

std::optional<DotProductAttention> dot_product_attention(const BahdanauOptions& o) {
  if (o.score != ScoreKind::dot) return std::nullopt;
  return std::optional<DotProductAttention>(std::in_place, DotProductAttentionOptions{.dropout = o.dropout});
}

GRUOptions encoder_options(const BahdanauOptions& o) {
  if (o.attentive && o.width % 2 != 0)
    raise<ValueError>("[Bahdanau] wanted an even width to read both ways, came {}", o.width);
  return {.inputs = o.width,
          .hidden = o.attentive ? o.width / 2 : o.width,
          .layers = o.layers,
          .dropout = o.dropout,
          .bidirectional = o.attentive};
}

}  // namespace

Bahdanau::Bahdanau(const BahdanauOptions& o)
    : source_embedding_({.rows = o.source_vocabulary, .width = o.width}),
      target_embedding_({.rows = o.target_vocabulary, .width = o.width}),
      encoder_(encoder_options(o)),
      additive_(additive_attention(o)),
      dot_(dot_product_attention(o)),
      decoder_({.inputs = 2 * o.width, .hidden = o.width, .layers = o.layers, .dropout = o.dropout}),
      is_attentive_(o.attentive),
      output_({.inputs = o.attentive ? 2 * o.width : o.width, .outputs = o.target_vocabulary}) {
  child("source_embedding", source_embedding_);
  child("target_embedding", target_embedding_);
  child("encoder", encoder_);
  if (additive_) child("attention", *additive_);
  if (dot_) child("attention", *dot_);
  child("decoder", decoder_);
  child("output", output_);
}

std::pair<Bahdanau::Memory, RecurrentState> Bahdanau::encode(const Tensor& source,
                                                             const Tensor& source_lengths) {
  const Variable embedded = source_embedding_(source);
  auto [values, state] = encoder_(embedded, source_lengths);
  if (is_attentive_) {
    values = values + embedded;
    state = decoder_.zero_state(source.size(0));
  }
  Variable keys = additive_ ? additive_->project_keys(values) : values;
  return {Memory{std::move(values), std::move(keys), source_lengths}, std::move(state)};
}

Attended Bahdanau::attend(const RecurrentState& state, const Memory& memory) {
  const Variable query = state.back().unsqueeze(1);  // (batch, 1, width)
  const Mask mask = Mask::valid_lengths(memory.lengths);
  return additive_ ? additive_->attend(query, memory.keys, memory.values, mask)
                   : dot_->attend(query, memory.keys, memory.values, mask);
}

Variable Bahdanau::advance(const Variable& embedded, const Variable& context, RecurrentState& state) {
  const Variable found = context.squeeze(1);
  const Variable output = decoder_.step(concat({found, embedded}, 1), state);
  return is_attentive_ ? concat({output, found}, 1) : output;
}

Variable Bahdanau::forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in,
                           const Tensor& places) {
  auto [memory, state] = encode(source, source_lengths);
  const Variable words = target_embedding_(target_in);
  std::vector<Variable> steps = unstack(words, 1);
  if (steps.empty())
    return output_(at_places(is_attentive_ ? concat({words, words}, 2) : words, places));  // of no place
  for (Variable& step : steps) step = advance(step, attend(state, memory).output, state);
  return output_(at_places(stack(steps, 1), places));
}

class Bahdanau::Steps : public Decoding {
 public:
  Steps(Bahdanau& model, Memory memory, RecurrentState state, const DecodingOptions& options)
      : model_(model),
        memory_(std::move(memory)),
        state_(std::move(state)),
        keep_weights_(options.attention) {}

  Variable step(const Tensor& ids) override {
    const Attended attended = model_.attend(state_, memory_);
    if (keep_weights_) weights_ = attended.weights;
    return model_.output_(model_.advance(model_.target_embedding_(ids), attended.output, state_));
  }

  std::vector<Tensor> attention() const override { return {kept_weights(weights_)}; }

  void select(const Tensor& rows) override {
    memory_ = {index_select(memory_.values, 0, rows), index_select(memory_.keys, 0, rows),
               kernels::index_select(memory_.lengths, 0, rows)};
    for (Variable& layer : state_) layer = index_select(layer, 0, rows);
  }

 private:
  Bahdanau& model_;
  Memory memory_;
  RecurrentState state_;
  bool keep_weights_;
  Variable weights_;  // (batch, 1, source length)
};

std::unique_ptr<Decoding> Bahdanau::start(const Tensor& source, const Tensor& source_lengths,
                                          const DecodingOptions& options) {
  auto [memory, state] = encode(source, source_lengths);
  return std::make_unique<Steps>(*this, std::move(memory), std::move(state), options);
}

}  // namespace heed::nn
