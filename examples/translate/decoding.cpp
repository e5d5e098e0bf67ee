#include "translate/decoding.h"

#include <heed/autograd/grad_mode.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/softmax.h>

#include <algorithm>
#include <limits>

#include "translate/beam_search.h"
#include "translate/data/batches.h"

namespace heed::translate {
namespace {

Tensor ids_of(std::span<const int64_t> ids) {
  return from_values<int64_t>(ids, {static_cast<int64_t>(ids.size())});
}

/// Sentences as ids, filled up to the longest of them: ids (batch, length), lengths (batch).
struct Source {
  Tensor ids, lengths;
};

Source encode(const Translator& translator, std::span<const Sentence> sentences) {
  std::vector<Encoded> encoded;
  std::vector<int64_t> all;
  for (const Sentence& sentence : sentences) {
    all.push_back(static_cast<int64_t>(all.size()));
    encoded.push_back(encode_pair({sentence, {}, {}}, translator.source(), translator.target(),
                                  translator.architecture().length));
  }
  const Batch batch = make_batch(encoded, all, longest_of(encoded, all));
  return {from_values<int64_t>(batch.source, {batch.rows, batch.length}), ids_of(batch.source_lengths)};
}

/// A model's decoding as a search sees it. Padding and the begin marker are no words to choose.
class ModelSteps : public StepModel {
 public:
  explicit ModelSteps(std::unique_ptr<nn::Decoding> decoding) : decoding_(std::move(decoding)) {}

  Tensor step(std::span<const int64_t> tokens) override {
    Tensor logits = decoding_->step(ids_of(tokens)).data().clone();
    for (const int64_t marker : {Vocabulary::kPadding, Vocabulary::kBegin})
      logits.slice(1, marker, marker + 1).fill(-std::numeric_limits<double>::infinity());
    return kernels::log_softmax(logits, -1);
  }

  void select(std::span<const int64_t> rows) override { decoding_->select(ids_of(rows)); }

 private:
  std::unique_ptr<nn::Decoding> decoding_;
};

/// The mean over layers and heads of weights (batch, heads, source length) -> (batch, source length).
Tensor mean_weights(const std::vector<Tensor>& layers) {
  Tensor mean = zeros({layers.front().size(0), layers.front().size(2)});
  for (const Tensor& layer : layers) {
    const Tensor heads = kernels::mean(layer, {1});
    const auto from = heads.span<float>();
    float* into = mean.mutable_data<float>();
    for (size_t i = 0; i < from.size(); ++i) into[i] += from[i] / static_cast<float>(layers.size());
  }
  return mean;
}

/// Feeds what was chosen once more and returns how each step looked at the source: a step's weights are
/// (batch, source length). The search itself need not keep those of all that it drops.
std::vector<Tensor> look_again(nn::EncoderDecoder& model, const Source& source,
                               std::span<const Hypothesis> chosen) {
  const auto decoding = model.start(source.ids, source.lengths, {.attention = true});
  size_t steps = 0;
  for (const Hypothesis& hypothesis : chosen)
    steps = std::max(steps, hypothesis.tokens.size() + (hypothesis.finished ? 1 : 0));
  std::vector<int64_t> last(chosen.size(), Vocabulary::kBegin);
  std::vector<Tensor> weights;
  for (size_t step = 0; step < steps; ++step) {
    if (step > 0)
      for (size_t i = 0; i < chosen.size(); ++i)
        last[i] = step <= chosen[i].tokens.size() ? chosen[i].tokens[step - 1] : Vocabulary::kEnd;
    decoding->step(ids_of(last));
    weights.push_back(mean_weights(decoding->attention()));
  }
  return weights;
}

/// The weights of one row in each step, (target words, source words).
Tensor weights_of(const std::vector<Tensor>& steps, int64_t row, const Translation& translation) {
  const auto target_words = static_cast<int64_t>(translation.target.size()),
             source_words = static_cast<int64_t>(translation.source.size());
  Tensor result = zeros({target_words, source_words});
  float* into = result.mutable_data<float>();
  for (int64_t t = 0; t < target_words; ++t) {
    const Tensor& step = steps[static_cast<size_t>(t)];
    std::copy_n(step.data<float>() + row * step.size(1), source_words, into + t * source_words);
  }
  return result;
}

/// The source word that target word `t` came from most; the end marker is none.
const std::string& most_attended(const Translation& translation, int64_t t) {
  const int64_t columns = translation.attention.size(1);
  const float* row = translation.attention.data<float>() + t * columns;
  const float* most = std::max_element(row, row + std::max<int64_t>(columns - 1, 1));
  return translation.source[static_cast<size_t>(most - row)];
}

/// The words that the model read: as many as fit, and the end marker.
Sentence words_read(const Translator& translator, const Sentence& sentence) {
  const auto most = static_cast<size_t>(translator.architecture().length - 1);
  Sentence read(sentence.begin(), sentence.begin() + std::min(sentence.size(), most));
  read.push_back(translator.source().word(Vocabulary::kEnd));
  return read;
}

std::string text_of(const Translation& translation, bool finished) {
  return joined({translation.target.begin(), translation.target.end() - (finished ? 1 : 0)});
}

/// Hypotheses beside the sentences that they translate.
class Results {
 public:
  Results(const Translator& translator, std::span<const Sentence> sentences, std::vector<Hypothesis> chosen)
      : chosen_(std::move(chosen)) {
    for (size_t i = 0; i < chosen_.size(); ++i) {
      Translation& translation = translations_.emplace_back();
      translation.source = words_read(translator, sentences[i]);
      for (const int64_t id : chosen_[i].tokens) translation.target.push_back(translator.target().word(id));
      if (chosen_[i].finished) translation.target.push_back(translator.target().word(Vocabulary::kEnd));
    }
  }

  void add_attention(Translator& translator, const Source& source) {
    const std::vector<Tensor> steps = look_again(translator.model(), source, chosen_);
    for (size_t i = 0; i < chosen_.size(); ++i) {
      Translation& translation = translations_[i];
      translation.attention = weights_of(steps, static_cast<int64_t>(i), translation);
    }
  }

  void replace_unknown() {
    for (size_t i = 0; i < chosen_.size(); ++i)
      for (size_t t = 0; t < chosen_[i].tokens.size(); ++t)
        if (chosen_[i].tokens[t] == Vocabulary::kUnknown)
          translations_[i].target[t] = most_attended(translations_[i], static_cast<int64_t>(t));
  }

  std::vector<Translation> finish() {
    for (size_t i = 0; i < chosen_.size(); ++i)
      translations_[i].text = text_of(translations_[i], chosen_[i].finished);
    return std::move(translations_);
  }

 private:
  std::vector<Hypothesis> chosen_;
  std::vector<Translation> translations_;
};

}  // namespace

std::vector<Translation> decode(Translator& translator, std::span<const Sentence> sentences,
                                const TranslateOptions& options) {
  const NoGrad guard;
  const Source source = encode(translator, sentences);
  ModelSteps model(translator.model().start(source.ids, source.lengths));
  auto found = beam_search(model, static_cast<int64_t>(sentences.size()),
                           {.beam = options.beam,
                            .max_length = translator.architecture().length,
                            .begin = Vocabulary::kBegin,
                            .end = Vocabulary::kEnd,
                            .length_penalty = options.length_penalty});
  std::vector<Hypothesis> best;
  for (auto& hypotheses : found) best.push_back(std::move(hypotheses.front()));
  Results results(translator, sentences, std::move(best));
  if (options.attention || options.replace_unknown) results.add_attention(translator, source);
  if (options.replace_unknown) results.replace_unknown();
  return results.finish();
}

}  // namespace heed::translate
