#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heed::study {

/// Which words translate which: (source word, target word), both counted from 0.
using Alignment = std::vector<std::pair<int, int>>;

/// The place of the largest of the first `words` weights, the first of equal ones: the source word that a
/// target word is linked to. ValueError when there are no words, or more than weights.
int most_attended(std::span<const float> weights, int64_t words);

/// The links among the first `source_words` and `target_words` only.
Alignment within(const Alignment& links, int64_t source_words, int64_t target_words);

/// The counts behind an alignment error rate, over any number of sentences.
struct AlignmentCounts {
  int64_t common = 0;     ///< links that are both found and true
  int64_t found = 0;      ///< links that are found
  int64_t true_ones = 0;  ///< links of the gold alignment

  /// Adds one sentence. A link that is named twice counts once.
  void add(const Alignment& found_links, const Alignment& gold);

  /// The alignment error rate (Och and Ney 2003) with all gold links sure ones:
  ///
  ///   1 - 2 |found and true| / (|found| + |true|)
  ///
  /// from 0, all links found and no other, to 1, not one. No links on either side: 0.
  double error_rate() const;
};

/// An attention head: of a layer of the decoder, both counted from 0.
struct Head {
  int64_t layer = 0;
  int64_t head = 0;

  bool operator==(const Head&) const = default;
};

/// A head and how well its links match.
struct RankedHead {
  Head head;
  AlignmentCounts counts;
};

/// By rising error rate; equal ones by layer and head.
void rank(std::vector<RankedHead>& heads);

}  // namespace heed::study
