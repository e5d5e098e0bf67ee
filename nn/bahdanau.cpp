#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/views.h>
#include <heed/nn/bahdanau.h>

namespace heed::nn {

Bahdanau::Bahdanau(const BahdanauOptions& o)
    : source_embedding_({.rows = o.source_vocabulary, .width = o.width}),
      target_embedding_({.rows = o.target_vocabulary, .width = o.width}),
      encoder_({.inputs = o.width, .hidden = o.width, .layers = o.layers, .dropout = o.dropout}),
      attention_({.query_width = o.width, .key_width = o.width, .hidden = o.width, .dropout = o.dropout}),
      decoder_({.inputs = 2 * o.width, .hidden = o.width, .layers = o.layers, .dropout = o.dropout}),
      output_({.inputs = o.width, .outputs = o.target_vocabulary}) {
  child("source_embedding", source_embedding_);
  child("target_embedding", target_embedding_);
  child("encoder", encoder_);
  child("attention", attention_);
  child("decoder", decoder_);
  child("output", output_);
}

std::pair<Bahdanau::Memory, RecurrentState> Bahdanau::encode(const Tensor& source,
                                                             const Tensor& source_lengths) {
  auto [values, state] = encoder_(source_embedding_(source), source_lengths);
  Variable keys = attention_.project_keys(values);
  Memory memory{std::move(values), std::move(keys), Mask::valid_lengths(source_lengths)};
  return {std::move(memory), std::move(state)};
}

Variable Bahdanau::advance(const Variable& embedded, const Memory& memory, RecurrentState& state) {
  const Variable query = state.back().unsqueeze(1);  // (batch, 1, width)
  const Variable context =
      attention_.attend(query, memory.keys, memory.values, memory.mask).output.squeeze(1);
  return decoder_.step(concat({context, embedded}, 1), state);
}

Variable Bahdanau::forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in) {
  auto [memory, state] = encode(source, source_lengths);
  std::vector<Variable> steps = unstack(target_embedding_(target_in), 1);
  if (steps.empty()) return output_(target_embedding_(target_in));  // (batch, 0, vocabulary)
  for (Variable& step : steps) step = advance(step, memory, state);
  return output_(stack(steps, 1));
}

class Bahdanau::Steps : public Decoding {
 public:
  Steps(Bahdanau& model, Memory memory, RecurrentState state)
      : model_(model), memory_(std::move(memory)), state_(std::move(state)) {}

  Variable step(const Tensor& ids) override {
    return model_.output_(model_.advance(model_.target_embedding_(ids), memory_, state_));
  }

 private:
  Bahdanau& model_;
  Memory memory_;
  RecurrentState state_;
};

std::unique_ptr<Decoding> Bahdanau::start(const Tensor& source, const Tensor& source_lengths) {
  auto [memory, state] = encode(source, source_lengths);
  return std::make_unique<Steps>(*this, std::move(memory), std::move(state));
}

}  // namespace heed::nn
