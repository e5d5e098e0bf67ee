#pragma once

#include <string>

#include "translate/data/pairs.h"

namespace heed::translate {

inline constexpr auto kDataHelp =
    "Sentence pairs, source TAB target per line; or copy:N, reverse:N; else the embedded corpus";
inline constexpr auto kStrictHelp = "Stop at the first line that holds no pair; else such lines are skipped";

/// Tells on standard error which lines of `data` were skipped, and how many.
void warn_of_skipped(const std::string& data, const LoadReport& report);

}  // namespace heed::translate
