#pragma once

#include <optional>

#include <heed/nn/attention.h>
#include <heed/nn/embedding.h>
#include <heed/nn/encoder_decoder.h>
#include <heed/nn/recurrent.h>

namespace heed::nn {

/// How the decoder's state is compared with the encoder's outputs: by a small network, or by their product,
/// which has no parameters.
enum class ScoreKind { additive, dot };

struct BahdanauOptions {
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;
  int64_t width = 0;  ///< of embeddings, states and the attention's hidden layer
  int64_t layers = 1;
  double dropout = 0;  ///< between recurrent layers, and of the attention weights
  ScoreKind score = ScoreKind::additive;
  bool attentive = false;  ///< nothing reaches the target but through attention: see Bahdanau
};

/// A GRU reads the source; its last state starts a second GRU that writes the target. Before each step the
/// decoder's top state asks the encoder's outputs by additive or dot-product attention, and the step's input
/// is the answer next to the embedded word. Bahdanau, Cho, Bengio (2014), with one direction in the encoder.
///
/// On short sentences the states carry all that is needed, and attention need not look at the word that is
/// translated. It has to in the attentive kind, in which
///   - the encoder reads both ways, as in the paper, each direction with half of the width, and its output at
///     each place is added to the embedded word, so that the place stands for this word;
///   - the decoder starts from zeros: it knows of the source what attention tells it;
///   - a word is predicted from what attention found next to the state, as in the paper.
class Bahdanau : public EncoderDecoder {
 public:
  /// ValueError for an odd width of the attentive kind.
  explicit Bahdanau(const BahdanauOptions& options);
  Variable forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target_in,
                   const Tensor& places = {}) override;
  std::unique_ptr<Decoding> start(const Tensor& source, const Tensor& source_lengths,
                                  const DecodingOptions& options = {}) override;

 private:
  /// The encoded source: outputs (batch, source length, width), what they are known by, and where they end.
  struct Memory {
    Variable values, keys;
    Tensor lengths;  // i64 (batch)
  };
  class Steps;
  std::pair<Memory, RecurrentState> encode(const Tensor& source, const Tensor& source_lengths);
  /// What the decoder's top state finds in the source: output (batch, 1, width).
  Attended attend(const RecurrentState& state, const Memory& memory);
  /// One step: embedded (batch, width), context (batch, 1, width) -> what the word is predicted from, (batch,
  /// width) or, of the attentive kind, (batch, 2 width). The state moves on.
  Variable advance(const Variable& embedded, const Variable& context, RecurrentState& state);

  Embedding source_embedding_, target_embedding_;
  GRU encoder_;
  std::optional<AdditiveAttention> additive_;
  std::optional<DotProductAttention> dot_;
  GRU decoder_;
  bool is_attentive_;
  Linear output_;
};

}  // namespace heed::nn
