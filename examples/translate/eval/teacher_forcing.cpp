#include "translate/eval/teacher_forcing.h"

#include <algorithm>
#include <numeric>

#include <heed/autograd/grad_mode.h>
#include <heed/nn/eval_mode.h>
#include <heed/nn/loss.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/extremes.h>

#include "translate/data/batches.h"

namespace heed::translate {
namespace {

constexpr int64_t kRows = 128;

std::vector<Encoded> encode(const Translator& translator, std::span<const SentencePair> pairs) {
  return encode_pairs(pairs, translator.source(), translator.target(), translator.architecture().length);
}

/// Calls `visit` with each batch, padded to its longest example, and the index of its first one.
template <class Visit>
void for_each_batch(std::span<const Encoded> examples, const Visit& visit) {
  const int64_t count = std::ssize(examples);
  for (int64_t begin = 0; begin < count; begin += kRows) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(kRows, count - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    visit(make_batch(examples, indices, longest_of(examples, indices)), static_cast<size_t>(begin));
  }
}

Tensor grid(const std::vector<int64_t>& ids, const Batch& batch) {
  return from_values<int64_t>(ids, {batch.rows, batch.length});
}

Tensor source_lengths(const Batch& batch) { return from_values<int64_t>(batch.source_lengths, {batch.rows}); }

/// How many of the ids are the likeliest, padding left out.
int64_t count_right(const Tensor& logits, const std::vector<int64_t>& wanted) {
  const Tensor likeliest = kernels::argmax(logits, -1);
  const auto said = likeliest.span<int64_t>();
  int64_t right = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    right += wanted[i] != Vocabulary::kPadding && said[i] == wanted[i] ? 1 : 0;
  return right;
}

/// The words of an encoded sentence: all but its end marker.
int64_t word_count(const std::vector<int64_t>& ids) { return std::ssize(ids) - 1; }

Alignment gold_of(const SentencePair& pair, const Encoded& example) {
  return study::within(pair.alignment, word_count(example.source), word_count(example.target));
}

std::vector<SentencePair> aligned_only(std::span<const SentencePair> pairs) {
  std::vector<SentencePair> out;
  std::ranges::copy_if(pairs, std::back_inserter(out),
                       [](const SentencePair& pair) { return !pair.alignment.empty(); });
  return out;
}

/// The ids at one place of each row.
std::vector<int64_t> column(const std::vector<int64_t>& ids, int64_t length, int64_t place) {
  std::vector<int64_t> out;
  for (size_t i = static_cast<size_t>(place); i < ids.size(); i += static_cast<size_t>(length))
    out.push_back(ids[i]);
  return out;
}

/// Sentence pairs side by side, with the gold links among the words that the model is given.
struct AlignedBatch {
  std::span<const Encoded> examples;
  std::vector<Alignment> gold;
};

AlignedBatch aligned_batch(std::span<const SentencePair> pairs, std::span<const Encoded> examples) {
  AlignedBatch batch{examples, {}};
  for (size_t row = 0; row < pairs.size(); ++row) batch.gold.push_back(gold_of(pairs[row], examples[row]));
  return batch;
}

/// The links of one target word.
Alignment links_at(const Alignment& links, int64_t place) {
  Alignment kept;
  std::ranges::copy_if(links, std::back_inserter(kept),
                       [&](const auto& link) { return link.second == place; });
  return kept;
}

std::vector<RankedHead> uncounted_heads(const std::vector<Tensor>& layers) {
  std::vector<RankedHead> heads;
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (int64_t head = 0; head < layers[layer].shape()[1]; ++head)
      heads.push_back({{static_cast<int64_t>(layer), head}, {}});
  return heads;
}

/// Counts how a head links the target words at `place`, from its layer's weights (rows, heads, source
/// length).
void count_step(RankedHead& ranked, const Tensor& weights, const AlignedBatch& batch, int64_t place) {
  const auto heads = static_cast<size_t>(weights.shape()[1]),
             length = static_cast<size_t>(weights.shape()[2]);
  const auto values = weights.span<float>();
  for (size_t row = 0; row < batch.examples.size(); ++row) {
    const int64_t words = word_count(batch.examples[row].source);
    if (words == 0 || place >= word_count(batch.examples[row].target)) continue;
    const size_t begin = (row * heads + static_cast<size_t>(ranked.head.head)) * length;
    const int source = study::most_attended(values.subspan(begin, length), words);
    ranked.counts.add({{source, static_cast<int>(place)}}, links_at(batch.gold[row], place));
  }
}

}  // namespace

Predictions predict(Translator& translator, std::span<const SentencePair> pairs) {
  const NoGrad no_grad;
  const nn::EvalMode evaluation(translator.model());
  const std::vector<Encoded> examples = encode(translator, pairs);
  Predictions result{.floor = loss_floor(examples)};
  double loss = 0;
  int64_t right = 0;
  for_each_batch(examples, [&](const Batch& batch, size_t) {
    const Variable logits =
        translator.model()(grid(batch.source, batch), source_lengths(batch), grid(batch.target_in, batch));
    const Variable mean =
        nn::cross_entropy(logits, grid(batch.target_out, batch), {.ignore_index = Vocabulary::kPadding});
    loss += mean.item() * static_cast<double>(batch.target_tokens);
    right += count_right(logits.data(), batch.target_out);
    result.tokens += batch.target_tokens;
  });
  if (result.tokens == 0) return result;
  result.loss = loss / static_cast<double>(result.tokens);
  result.token_accuracy = static_cast<double>(right) / static_cast<double>(result.tokens);
  return result;
}

std::vector<RankedHead> rank_heads(Translator& translator, std::span<const SentencePair> pairs) {
  const NoGrad no_grad;
  const nn::EvalMode evaluation(translator.model());
  const std::vector<SentencePair> aligned = aligned_only(pairs);
  const std::vector<Encoded> examples = encode(translator, aligned);
  std::vector<RankedHead> heads;
  for_each_batch(examples, [&](const Batch& batch, size_t begin) {
    const auto rows = static_cast<size_t>(batch.rows);
    const AlignedBatch lined_up =
        aligned_batch(std::span(aligned).subspan(begin, rows), std::span(examples).subspan(begin, rows));
    const auto decoding =
        translator.model().start(grid(batch.source, batch), source_lengths(batch), {.attention = true});
    for (int64_t place = 0; place < batch.length; ++place) {
      decoding->step(from_values<int64_t>(column(batch.target_in, batch.length, place), {batch.rows}));
      const std::vector<Tensor> layers = decoding->attention();
      if (heads.empty()) heads = uncounted_heads(layers);
      for (RankedHead& ranked : heads)
        count_step(ranked, layers[static_cast<size_t>(ranked.head.layer)].contiguous(), lined_up, place);
    }
  });
  study::rank(heads);
  return heads;
}

AlignmentCounts best_single_links(const Translator& translator, std::span<const SentencePair> pairs) {
  AlignmentCounts counts;
  for (const SentencePair& pair : aligned_only(pairs)) {
    const Encoded example =
        encode_pair(pair, translator.source(), translator.target(), translator.architecture().length);
    const Alignment gold = gold_of(pair, example);
    std::vector<bool> linked(static_cast<size_t>(word_count(example.target)));
    for (const auto& link : gold) linked[static_cast<size_t>(link.second)] = true;
    counts.common += std::ranges::count(linked, true);
    counts.found += std::ssize(linked);
    counts.true_ones += std::ssize(gold);
  }
  return counts;
}

}  // namespace heed::translate
