#pragma once

#include <span>
#include <vector>

#include "translate/translator.h"

namespace heed::translate {

/// The translations of some sentences, each of a word or more, decoded side by side.
std::vector<Translation> decode(Translator& translator, std::span<const Sentence> sentences,
                                const TranslateOptions& options);

}  // namespace heed::translate
