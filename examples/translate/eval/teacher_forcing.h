#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <heed/study/alignment.h>

#include "translate/data/pairs.h"
#include "translate/translator.h"

namespace heed::translate {

using study::AlignmentCounts;
using study::Head;
using study::RankedHead;

/// What a model says of the next word while it is fed the true ones.
struct Predictions {
  double loss = 0;            ///< nats per target token, end markers included
  double floor = 0;           ///< the lowest possible on these pairs, as loss_floor() has it
  double token_accuracy = 0;  ///< the share of target tokens that were the likeliest
  int64_t tokens = 0;
};

/// Without dropout; the mode of the model stays what it was. No pairs: zeros.
Predictions predict(Translator& translator, std::span<const SentencePair> pairs);

/// How well each head that looks at the source finds the gold alignments of these pairs, best first. A target
/// word is linked to the one source word, the end marker left out, that has the most weight in the step that
/// predicts it, all words before it being the true ones. Pairs without gold links, and links to words that
/// the model is not given because the sentence is cut, are left out. No pair with gold links: no heads.
std::vector<RankedHead> rank_heads(Translator& translator, std::span<const SentencePair> pairs);

/// The counts of the best that can be done in this way on these pairs: a true link for each target word that
/// has one, and a wrong one for each other. Its error rate is above zero where a target word has several
/// source words.
AlignmentCounts best_single_links(const Translator& translator, std::span<const SentencePair> pairs);

}  // namespace heed::translate
