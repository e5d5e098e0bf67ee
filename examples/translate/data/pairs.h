#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heed/study/alignment.h>

#include "translate/data/text.h"

namespace heed::translate {

using study::Alignment;

/// A sentence and its translation, as words; the alignment is empty where it is not known.
struct SentencePair {
  Sentence source;
  Sentence target;
  Alignment alignment;

  bool operator==(const SentencePair&) const = default;
};

struct ReadOptions {
  int64_t limit = 0;    ///< stop after this many usable pairs; 0 reads all
  bool strict = false;  ///< a line that holds no pair is an error, and not skipped
};

/// What read_pairs() could not use.
struct LoadReport {
  /// How many messages are kept in `problems`.
  static constexpr size_t kKept = 10;

  /// The number of lines that were skipped.
  int64_t skipped = 0;
  /// One line for each of the first kKept of them, such as `line 7: wanted a tab, came none`.
  std::vector<std::string> problems;
};

/// The sentence pairs of a file, with the lines that had to be skipped.
struct LoadedPairs {
  std::vector<SentencePair> pairs;
  LoadReport report;
};

/// Reads sentence pairs in the format of Tatoeba and manythings.org: a line each of source, tab, target;
/// UTF-8 with or without a byte order mark, lines ended by LF or CRLF. A third column that holds nothing but
/// links such as `0-0 1-2` (source word - target word) is the alignment; any other further column, such as an
/// attribution, is ignored.
///
/// A line that is blank, has no tab, an empty side, a CR within, invalid UTF-8, more than a mebibyte, or
/// links to words that are not there, is skipped and reported; a strict reading stops there with a FileError
/// that names the line. A file that cannot be read, is empty, or has no usable pair at all is a FileError; a
/// negative limit a ValueError.
LoadedPairs read_pairs(const std::filesystem::path& path, const ReadOptions& options = {});

/// Links as read_pairs() reads them: `0-0 1-2`.
std::string format_alignment(const Alignment& alignment);

/// The source sides alone.
std::vector<Sentence> sources(const std::vector<SentencePair>& pairs);

/// The target sides alone.
std::vector<Sentence> targets(const std::vector<SentencePair>& pairs);

}  // namespace heed::translate
