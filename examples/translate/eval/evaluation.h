#pragma once

#include <optional>
#include <vector>

#include "translate/eval/bleu.h"
#include "translate/eval/teacher_forcing.h"

namespace heed::translate {

/// The pairs of one source: what it may be translated to.
struct Question {
  Sentence source;
  std::vector<Sentence> references;
};

/// Each source once, in the order of the first pairs that have them.
std::vector<Question> questions(const std::vector<SentencePair>& pairs);

/// Which head aligns best, as it was chosen on some pairs, and how well it does on others.
struct BestHead {
  Head head;
  double error_rate = 0;   ///< on the pairs that are scored
  double lowest = 0;       ///< what the best link for each target word would give there
  double chosen_with = 0;  ///< the error rate on the pairs that it was chosen on
};

/// How good a translator is.
struct Evaluation {
  int64_t pairs = 0;
  int64_t sources = 0;
  Bleu bleu;               ///< of the translations of the sources, each with all of its references
  double exact_match = 0;  ///< the share of translations that equal one of their references
  Predictions predictions;
  std::optional<BestHead> alignment;  ///< where the pairs to score and those to choose on have gold links
};

/// Scores the translator on `test`, by a beam search where `beam` is above 1; an attention head is chosen on
/// `validation`. ValueError when there is nothing to score.
Evaluation evaluate(Translator& translator, const std::vector<SentencePair>& test,
                    const std::vector<SentencePair>& validation, int64_t beam);

}  // namespace heed::translate
