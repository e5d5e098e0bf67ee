#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/data/pairs.h"

namespace heed::translate {

/// One pair of the embedded corpus, as text with capitals and end marks. The alignment counts the tokens of
/// words().
struct CorpusEntry {
  std::string source;
  std::string target;
  Alignment alignment;
};

/// Whether a French word starts with the sound of a vowel. Every h of the lexicon is mute.
bool starts_with_vowel(std::string_view french);

/// A part of a sentence in both languages; each French word knows the English ones, counted from the start of
/// the part, that it translates.
struct Phrase {
  struct FrenchWord {
    std::string text;
    std::vector<int> english;
  };
  std::vector<std::string> english;
  std::vector<FrenchWord> french;
};

/// One part after the other, in both languages.
Phrase operator+(Phrase first, const Phrase& second);

/// A sentence in the making. say() adds to its English side and returns the place of what it added; put()
/// adds to the French side, naming the English places that it translates.
class Draft {
 public:
  int say(std::string_view word);
  int say(const Phrase& phrase);
  void put(std::string_view word, std::vector<int> english);
  /// The French side of a phrase whose English side was said at `place`.
  void put(const Phrase& phrase, int place);

  /// The sentence with its end mark: French words elided (je + ai -> j'ai) and contracted (de + le -> du),
  /// and then aligned with all that their parts are aligned with; the end marks with each other.
  CorpusEntry finish(char mark) const;

 private:
  Phrase whole_;
};

}  // namespace heed::translate
