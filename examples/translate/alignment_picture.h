#pragma once

#include <string>

#include "translate/translator.h"

namespace heed::translate {

/// How a translation looked at its source, for a terminal of so many columns: a row for each target word, a
/// column for each source word. The darker a block, the larger the weight; columns that have room tell it in
/// percent as well, as in "▓68", and 100 stands alone. Weights below 5% are left blank. Source words stand in
/// steps above their columns, so that long ones have room; a word that has not is cut. Columns come closer
/// where the sentence is long, and what does not fit even then goes to further pictures, one below the other
/// with an empty line between. No line is wider than `columns`, where these are 2 or more.
std::string alignment_picture(const Translation& translation, int columns);

}  // namespace heed::translate
