#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "translate/data/text.h"

namespace heed::translate {

/// The words of one language and their ids: four markers first, then the words by falling frequency, equal
/// ones in the order of their bytes (which, in UTF-8, is that of their code points). Ids of a given text
/// never change.
class Vocabulary {
 public:
  static constexpr int64_t kUnknown = 0;
  static constexpr int64_t kPadding = 1;
  static constexpr int64_t kBegin = 2;
  static constexpr int64_t kEnd = 3;

  /// The words that occur at least `min_frequency` times. Throws ValueError when that is below one, or when a
  /// word is not one word in the sense of is_word().
  Vocabulary(std::span<const Sentence> sentences, int64_t min_frequency);

  /// How many ids there are, the markers included.
  int64_t size() const { return static_cast<int64_t>(words_.size()); }

  /// The id of a word, kUnknown when it has none. A text that spells out a marker, such as `<eos>`, does not
  /// get at the marker: that is an unknown word.
  int64_t id(std::string_view word) const;

  /// The word, or the spelling of the marker, that has this id. Throws IndexError when none has.
  const std::string& word(int64_t id) const;

  /// One id for each word; no markers are added.
  std::vector<int64_t> encode(const Sentence& sentence) const;

  /// The words of `ids` up to the first end marker, with single spaces between; begin markers and padding are
  /// left out.
  std::string decode(std::span<const int64_t> ids) const;

  /// Writes one word on each line, the markers first. The file appears under its name only once it is
  /// complete and on the disk.
  void save(const std::filesystem::path& path) const;

  /// Reads what save() wrote. Anything else is a FileError with the number of the offending line.
  static Vocabulary load(const std::filesystem::path& path);

  bool operator==(const Vocabulary& other) const { return words_ == other.words_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  /// The markers and no words.
  Vocabulary();
  /// Gives the next id to `word`; false when it has one already.
  bool add(std::string word);

  std::vector<std::string> words_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

}  // namespace heed::translate
