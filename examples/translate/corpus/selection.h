#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "translate/corpus/draft.h"

namespace heed::translate {

/// The sentences of the embedded corpus. All that the rules allow would be far too many, and some kinds would
/// drown the others; so it is made of cells, such as "questions with `see` about `you`", with a few sentences
/// of each. Which ones depends on nothing but the order of the cells.
class Selection {
 public:
  /// Makes a sentence of two choices, if they go together.
  using Make = std::function<std::optional<CorpusEntry>(size_t first, size_t second)>;

  /// One cell: up to `most` sentences that are short enough, each with another first choice out of `firsts`.
  /// The second choices go round and round through `seconds`.
  void take(size_t firsts, size_t seconds, size_t most, const Make& make);

  std::vector<CorpusEntry> entries() && { return std::move(entries_); }

 private:
  std::vector<CorpusEntry> entries_;
  uint64_t cell_ = 0;
};

/// All sentences of the embedded corpus, cell by cell.
std::vector<CorpusEntry> select_corpus();

}  // namespace heed::translate
