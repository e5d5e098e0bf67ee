#pragma once

#include <string>

#include "translate/data/pairs.h"

namespace heed::translate {

inline constexpr auto kDataHelp = "Source TAB target per line, or copy:N, or reverse:N";
inline constexpr auto kStrictHelp = "Stop at the first line that holds no pair; else such lines are skipped";

/// Tells on standard error which lines of `data` were skipped, and how many.
void warn_of_skipped(const std::string& data, const LoadReport& report);

}  // namespace heed::translate
