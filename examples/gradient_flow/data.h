#pragma once

#include <heed/nn/encoder_decoder.h>

#include <span>
#include <vector>

#include "translate/data/batches.h"
#include "translate/data/pairs.h"
#include "translate/data/vocabulary.h"

namespace heed::gradient_flow {

/// Sentence pairs with their vocabularies.
struct Pairs {
  explicit Pairs(std::vector<translate::SentencePair> from);

  std::vector<translate::SentencePair> pairs;
  translate::Vocabulary source, target;
  std::vector<translate::Encoded> encoded;
};

/// A batch as what a model takes.
struct Sequences {
  explicit Sequences(const translate::Batch& batch);
  Tensor source, source_lengths, target_in, target_out;
};

/// All of these examples side by side.
Sequences side_by_side(std::span<const translate::Encoded> examples);

/// The mean cross-entropy over the target's words.
Variable loss_of(nn::EncoderDecoder& model, const Sequences& batch);

}  // namespace heed::gradient_flow
