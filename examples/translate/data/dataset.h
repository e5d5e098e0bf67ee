#pragma once

#include <cstdint>
#include <string>

#include "translate/data/pairs.h"

namespace heed::translate {

/// Of data that comes with the program, one source in so many is kept out of training when no other number is
/// given.
inline constexpr int64_t kEmbeddedHoldout = 12;
/// How many pairs of a made-up language there are when no number is given.
inline constexpr int64_t kTaskPairs = 10000;
/// The longest sentence of a made-up language, in letters.
inline constexpr int64_t kTaskLongest = 1000;

/// Whether this names data that comes with the program: "" (the embedded corpus), "copy:N" or "reverse:N".
bool is_embedded(const std::string& data);

/// How many words the longest sentence of data that comes with the program can have; 0 for a file, of which
/// this is not known.
int64_t longest_sentence(const std::string& data);

/// The sentence pairs that `data` names: those of the embedded corpus when it is empty, of a made-up language
/// with sentences of up to N letters for "copy:N" and "reverse:N", else those of a file (`./copy:9` is one).
/// With a limit, no more pairs than that. ValueError for an N that is not a number from 1 to kTaskLongest,
/// and where there are fewer embedded pairs than the limit; FileError as read_pairs() has it.
LoadedPairs load_pairs(const std::string& data, const ReadOptions& options = {});

}  // namespace heed::translate
