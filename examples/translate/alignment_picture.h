#pragma once

#include <string>

#include "translate/translator.h"

namespace heed::translate {

/// How a translation looked at its source, for a terminal of so many columns: a row for each target word, a
/// column for each source word, and the darker a block, the larger the weight. Source words stand in steps
/// above their columns, so that long ones have room; a word that has not is cut.
std::string alignment_picture(const Translation& translation, int columns);

}  // namespace heed::translate
