#pragma once

#include <cstdint>
#include <vector>

#include "translate/data/pairs.h"

namespace heed::translate {

/// The CRC-32 (that of zlib and of Python's binascii) of a cleaned source, its words joined by single spaces:
/// a property of the sentence alone, so that whatever is decided by it is the same in every run, and all
/// translations of one source share it.
uint32_t source_checksum(const Sentence& source);

/// Which sources are kept out of training: those whose checksum modulo `holdout` is 0 for the test, and 1 for
/// validation.
struct SplitOptions {
  int64_t holdout = 0;      ///< 0 keeps out none
  bool validation = false;  ///< else what it would hold is trained on
};

/// Parts that share no source, each in the order of the pairs.
struct Split {
  std::vector<SentencePair> training, validation, test;
};

/// ValueError for a negative holdout, and for one below 2 where a validation part is wanted.
Split split(std::vector<SentencePair> pairs, const SplitOptions& options);

}  // namespace heed::translate
