#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "translate/data/pairs.h"

namespace heed::translate {

/// A word of a verse, cleaned, and the Strong's numbers that it bears, such as H430 or G2316: which words of
/// the Hebrew or Greek text it translates. A mark of punctuation is a word without numbers.
struct NumberedWord {
  std::string text;
  std::set<std::string> numbers;
};

struct Verse {
  std::string key;  ///< such as Genesis 1:1
  std::vector<NumberedWord> words;
};

/// The words of a verse in OSIS, in which <w lemma="strong:H7225 ..."> surrounds those that bear numbers.
/// Notes and headings are left out, but for titles that belong to the text.
std::vector<NumberedWord> words_of_osis(std::string_view markup);

/// The verses of a module in the import format of the SWORD project, as its `mod2imp` writes it: a line
/// `$$$Genesis 1:1`, then the lines of the verse. Introductions and verses without words are left out.
std::vector<Verse> read_verses(std::istream& imp);

/// Two verses as a pair of sentences: words that share a number are translations of one another.
SentencePair aligned(const Verse& source, const Verse& target);

}  // namespace heed::translate
