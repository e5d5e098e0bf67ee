#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "translate/data/text.h"

namespace heed::translate {

/// A corpus BLEU and what it is made of.
struct Bleu {
  double score = 0;               ///< in [0, 1]
  double brevity_penalty = 0;     ///< min(1, exp(1 - reference length / hypothesis length))
  std::vector<int64_t> matches;   ///< by order from 1: n-grams of the hypotheses that the references have
  std::vector<int64_t> n_grams;   ///< by order from 1: all n-grams of the hypotheses
  int64_t hypothesis_length = 0;  ///< in words, of all sentences
  int64_t reference_length = 0;   ///< of the reference closest in length to each hypothesis
};

/// The BLEU of a corpus (Papineni et al. 2002) on words as they are, without smoothing:
///
///   score = brevity penalty * (product over n = 1 ... max_order of matches[n] / n_grams[n]) ^ (1 /
///   max_order)
///
/// All counts are those of the whole corpus. An n-gram matches as often as the one reference that has it most
/// often does. Of the references of a sentence, the one whose length is closest to the hypothesis counts for
/// the brevity penalty, the shorter of two that are equally close. Where an order has no match, or no n-gram
/// at all (as when no hypothesis has four words), the score is 0. The same number, but for a factor of 100,
/// as sacreBLEU's with `--tokenize none --smooth-method none`.
///
/// `references` holds one list for each hypothesis. ValueError when the numbers differ, when a list is empty,
/// and for a maximal order below one.
Bleu corpus_bleu(std::span<const Sentence> hypotheses, std::span<const std::vector<Sentence>> references,
                 int64_t max_order = 4);

}  // namespace heed::translate
