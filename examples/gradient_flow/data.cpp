#include "gradient_flow/data.h"

#include <heed/nn/loss.h>
#include <heed/tensor/creation.h>

#include <numeric>

namespace heed::gradient_flow {
namespace {

/// More than any sentence has here.
constexpr int64_t kLongest = 1000;

}  // namespace

Pairs::Pairs(std::vector<translate::SentencePair> from)
    : pairs(std::move(from)),
      source(translate::sources(pairs), 1),
      target(translate::targets(pairs), 1),
      encoded(translate::encode_pairs(pairs, source, target, kLongest)) {}

Sequences::Sequences(const translate::Batch& batch)
    : source(from_values<int64_t>(batch.source, {batch.rows, batch.length})),
      source_lengths(from_values<int64_t>(batch.source_lengths, {batch.rows})),
      target_in(from_values<int64_t>(batch.target_in, {batch.rows, batch.length})),
      target_out(from_values<int64_t>(batch.target_out, {batch.rows, batch.length})) {}

Sequences side_by_side(std::span<const translate::Encoded> examples) {
  std::vector<int64_t> all(examples.size());
  std::iota(all.begin(), all.end(), 0);
  return Sequences(translate::make_batch(examples, all, translate::longest_of(examples, all)));
}

Variable loss_of(nn::EncoderDecoder& model, const Sequences& batch) {
  const Variable logits = model(batch.source, batch.source_lengths, batch.target_in);
  return nn::cross_entropy(logits, batch.target_out, {.ignore_index = translate::Vocabulary::kPadding});
}

}  // namespace heed::gradient_flow
