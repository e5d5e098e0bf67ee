#pragma once

#include <cstdint>
#include <vector>

#include "translate/corpus/draft.h"
#include "translate/data/pairs.h"

namespace heed::translate {

/// No sentence of the embedded corpus has more words than this on either side, end mark included.
inline constexpr int kCorpusLongest = 9;

/// How many pairs the embedded corpus has.
int64_t corpus_size();

/// `pairs` entries of the embedded corpus of English sentences and their French translations, without
/// repetition, in an order that depends on `seed` alone. No English sentence appears twice. The corpus is
/// made by the rules in grammar.h from the words in lexicon.h, which also say which word translates which.
/// Throws ValueError when more are asked for than there are, or fewer than none.
std::vector<CorpusEntry> corpus_entries(int64_t pairs, uint64_t seed);

/// The same entries as words.
std::vector<SentencePair> corpus(int64_t pairs, uint64_t seed);

}  // namespace heed::translate
