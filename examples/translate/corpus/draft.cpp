#include "translate/corpus/draft.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

namespace heed::translate {
namespace {

using FrenchWord = Phrase::FrenchWord;

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// What two neighbours become when they melt into one word; empty when they stay two.
std::string melted(std::string_view first, std::string_view second) {
  static constexpr std::array<std::string_view, 6> kElided = {"je", "le", "la", "ne", "de", "que"};
  if (contains(kElided, first) && starts_with_vowel(second)) {
    return std::string(first.substr(0, first.size() - 1)) + "'" + std::string(second);
  }
  return first == "de" && second == "le" ? "du" : "";
}

/// From right to left, so that "de" sees the "l'école" that "le école" has become.
std::vector<FrenchWord> melted(std::vector<FrenchWord> words) {
  for (size_t i = words.size() - 1; i > 0; --i) {
    std::string text = melted(words[i - 1].text, words[i].text);
    if (text.empty()) continue;
    words[i - 1].text = std::move(text);
    std::vector<int>& english = words[i - 1].english;
    english.insert(english.end(), words[i].english.begin(), words[i].english.end());
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return words;
}

/// Both languages of the corpus start their sentences with an ASCII letter, or with "où".
void capitalize(std::string& text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
}

}  // namespace

bool starts_with_vowel(std::string_view french) {
  static constexpr std::array<std::string_view, 4> kAccented = {"é", "è", "ê", "â"};
  if (std::string_view("aeiouh").find(french.front()) != std::string_view::npos) return true;
  return contains(kAccented, french.substr(0, 2));
}

Phrase operator+(Phrase first, const Phrase& second) {
  const int place = static_cast<int>(first.english.size());
  first.english.insert(first.english.end(), second.english.begin(), second.english.end());
  for (FrenchWord word : second.french) {
    for (int& english : word.english) english += place;
    first.french.push_back(std::move(word));
  }
  return first;
}

int Draft::say(std::string_view word) {
  whole_.english.emplace_back(word);
  return static_cast<int>(whole_.english.size()) - 1;
}

int Draft::say(const Phrase& phrase) {
  const int place = static_cast<int>(whole_.english.size());
  whole_.english.insert(whole_.english.end(), phrase.english.begin(), phrase.english.end());
  return place;
}

void Draft::put(std::string_view word, std::vector<int> english) {
  whole_.french.push_back({std::string(word), std::move(english)});
}

void Draft::put(const Phrase& phrase, int place) {
  for (FrenchWord word : phrase.french) {
    for (int& english : word.english) english += place;
    whole_.french.push_back(std::move(word));
  }
}

CorpusEntry Draft::finish(char mark) const {
  CorpusEntry entry{.source = joined(whole_.english), .target = "", .alignment = {}};
  const std::vector<FrenchWord> french = melted(whole_.french);
  Sentence target;
  for (const FrenchWord& word : french) {
    for (const int english : word.english)
      entry.alignment.emplace_back(english, static_cast<int>(target.size()));
    target.push_back(word.text);
  }
  entry.alignment.emplace_back(static_cast<int>(whole_.english.size()), static_cast<int>(target.size()));
  std::sort(entry.alignment.begin(), entry.alignment.end());
  entry.alignment.erase(std::unique(entry.alignment.begin(), entry.alignment.end()), entry.alignment.end());
  entry.target = joined(target);
  capitalize(entry.source);
  capitalize(entry.target);
  entry.source += mark;
  if (mark != '.') entry.target += ' ';  // as French spaces its question and exclamation marks
  entry.target += mark;
  return entry;
}

}  // namespace heed::translate
