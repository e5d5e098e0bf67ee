#pragma once

#include <cstdint>
#include <vector>

#include "translate/data/pairs.h"

namespace heed::translate {

/// Made-up languages in which a sentence is a row of letters, and its translation the same row, or that row
/// back to front. Attention has nothing to do there but to look at the right place, and the alignment is
/// known.
enum class Task : uint8_t { kCopy, kReverse };

/// How many different sentences of 1 to `longest` letters there are; at most 2^62 is told.
int64_t task_sentences(int64_t longest);

/// `count` pairs, no source twice: lengths from 1 to `longest`, each as likely as long as sentences of it are
/// left, letters from a to z. Depends on (task, longest, seed) alone, and more pairs begin with the fewer.
/// ValueError for a length below 1, and when more are asked for than there are, or fewer than none.
std::vector<SentencePair> task_pairs(Task task, int64_t longest, int64_t count, uint64_t seed);

}  // namespace heed::translate
