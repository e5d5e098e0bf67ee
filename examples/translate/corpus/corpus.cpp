#include "translate/corpus/corpus.h"

#include <utility>

#include <heed/tensor/error.h>

#include "translate/corpus/selection.h"
#include "translate/data/shuffle.h"

namespace heed::translate {
namespace {

const std::vector<CorpusEntry>& whole_corpus() {
  static const std::vector<CorpusEntry> kEntries = select_corpus();
  return kEntries;
}

}  // namespace

int64_t corpus_size() { return static_cast<int64_t>(whole_corpus().size()); }

std::vector<CorpusEntry> corpus_entries(int64_t pairs, uint64_t seed) {
  if (pairs < 0 || pairs > corpus_size()) {
    raise<ValueError>("[corpus] wanted from 0 to {} pairs, which is all there are, came {}", corpus_size(),
                      pairs);
  }
  std::vector<int64_t> chosen = shuffled(corpus_size(), seed, 0);
  chosen.resize(static_cast<size_t>(pairs));
  std::vector<CorpusEntry> entries;
  entries.reserve(chosen.size());
  for (const int64_t index : chosen) entries.push_back(whole_corpus()[static_cast<size_t>(index)]);
  return entries;
}

std::vector<SentencePair> corpus(int64_t pairs, uint64_t seed) {
  std::vector<SentencePair> out;
  for (CorpusEntry& entry : corpus_entries(pairs, seed)) {
    out.push_back({words(entry.source), words(entry.target), std::move(entry.alignment)});
  }
  return out;
}

}  // namespace heed::translate
