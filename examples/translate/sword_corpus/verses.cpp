#include "translate/sword_corpus/verses.h"

#include <algorithm>
#include <array>
#include <istream>

namespace heed::translate {
namespace {

/// What stands by itself, beside the marks that words() sets apart.
constexpr std::array<std::string_view, 17> kMarks = {";", ":", "(", ")", "[", "]", "\"", "¡", "¿",
                                                     "“", "”", "«", "»", "—", "–", "…",  ","};
constexpr std::string_view kParagraphSign = "¶";

struct Entity {
  std::string_view name, text;
};
constexpr std::array<Entity, 5> kEntities = {
    {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}}};

std::string replaced(std::string text, std::string_view what, const std::string& with) {
  for (size_t place = text.find(what); place != std::string::npos;
       place = text.find(what, place + with.size()))
    text.replace(place, what.size(), with);
  return text;
}

/// Text between tags as words, every mark by itself.
Sentence words_of_text(std::string_view raw) {
  std::string text(raw);
  for (const Entity& entity : kEntities) text = replaced(text, entity.name, std::string(entity.text));
  text = replaced(text, kParagraphSign, " ");
  for (const std::string_view mark : kMarks) text = replaced(text, mark, " " + std::string(mark) + " ");
  return words(text);
}

/// What stands between the angle brackets.
class Tag {
 public:
  explicit Tag(std::string_view text) : text_(text) {}

  bool closes() const { return text_.starts_with('/'); }
  bool is_empty() const { return text_.ends_with('/'); }
  std::string_view name() const {
    const std::string_view rest = text_.substr(closes() ? 1 : 0);
    return rest.substr(0, rest.find_first_of(" \t\n/"));
  }
  /// The value of an attribute; nothing when there is none.
  std::string_view attribute(std::string_view key) const {
    const std::string opening = " " + std::string(key) + "=\"";
    const size_t begin = text_.find(opening);
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = text_.substr(begin + opening.size());
    return rest.substr(0, rest.find('"'));
  }

 private:
  std::string_view text_;
};

/// Whether what the element holds is no part of the verse.
bool is_apparatus(const Tag& tag) {
  if (tag.name() == "title") return tag.attribute("canonical") != "true";
  return tag.name() == "note" || tag.name() == "rdg" || tag.name() == "reference";
}

/// H0430 -> H430
std::string plain_number(std::string_view number) {
  const size_t digits = std::min(number.find_first_not_of('0', 1), number.size());
  return std::string(number.substr(0, 1)) + std::string(number.substr(digits));
}

/// The numbers of `strong:H5315 H2416`.
std::set<std::string> numbers_of(std::string_view lemma) {
  constexpr std::string_view kPrefix = "strong:";
  std::set<std::string> numbers;
  while (!lemma.empty()) {
    const size_t end = std::min(lemma.find(' '), lemma.size());
    std::string_view number = lemma.substr(0, end);
    if (number.starts_with(kPrefix)) number.remove_prefix(kPrefix.size());
    if (number.size() > 1) numbers.insert(plain_number(number));
    lemma.remove_prefix(std::min(end + 1, lemma.size()));
  }
  return numbers;
}

/// Goes through a verse from tag to tag.
class OsisReader {
 public:
  void text(std::string_view raw) {
    if (depth_of_apparatus_ > 0) return;
    for (std::string& word : words_of_text(raw))
      out_.push_back({word, has_letters(word) ? numbers_ : std::set<std::string>{}});
  }

  void tag(const Tag& tag) {
    if (tag.is_empty()) return;
    if (depth_of_apparatus_ > 0) {
      depth_of_apparatus_ += tag.closes() ? -1 : 1;
    } else if (!tag.closes() && is_apparatus(tag)) {
      depth_of_apparatus_ = 1;
    } else if (tag.name() == "w") {
      numbers_ = tag.closes() ? std::set<std::string>{} : numbers_of(tag.attribute("lemma"));
    }
  }

  std::vector<NumberedWord> result() && { return std::move(out_); }

 private:
  static bool has_letters(std::string_view word) {
    return word.find_first_of(",.!?") != 0 && std::ranges::find(kMarks, word) == kMarks.end();
  }

  std::vector<NumberedWord> out_;
  std::set<std::string> numbers_;
  int64_t depth_of_apparatus_ = 0;  // open elements from the outermost that is left out
};

/// `Genesis 1:0` and `[ Module Heading ]` are introductions.
bool is_verse(std::string_view key) {
  const size_t colon = key.rfind(':');
  return colon != std::string_view::npos && key.substr(colon) != ":0" &&
         key.find(" 0:") == std::string_view::npos;
}

Sentence texts(const Verse& verse) {
  Sentence out;
  for (const NumberedWord& word : verse.words) out.push_back(word.text);
  return out;
}

bool share_a_number(const NumberedWord& a, const NumberedWord& b) {
  return std::ranges::any_of(a.numbers,
                             [&](const std::string& number) { return b.numbers.contains(number); });
}

}  // namespace

std::vector<NumberedWord> words_of_osis(std::string_view markup) {
  OsisReader reader;
  while (!markup.empty()) {
    const size_t open = std::min(markup.find('<'), markup.size());
    reader.text(markup.substr(0, open));
    markup.remove_prefix(open);
    if (markup.empty()) break;
    const size_t close = std::min(markup.find('>'), markup.size());
    reader.tag(Tag(markup.substr(1, close - 1)));
    markup.remove_prefix(std::min(close + 1, markup.size()));
  }
  return std::move(reader).result();
}

std::vector<Verse> read_verses(std::istream& imp) {
  constexpr std::string_view kKeyMark = "$$$";
  std::vector<Verse> verses;
  std::string key, markup;
  const auto finish = [&] {
    std::vector<NumberedWord> found = is_verse(key) ? words_of_osis(markup) : std::vector<NumberedWord>{};
    if (!found.empty()) verses.push_back({key, std::move(found)});
    markup.clear();
  };
  for (std::string line; std::getline(imp, line);) {
    if (!line.starts_with(kKeyMark)) {
      markup += line + " ";
      continue;
    }
    finish();
    key = line.substr(kKeyMark.size());
  }
  finish();
  return verses;
}

SentencePair aligned(const Verse& source, const Verse& target) {
  SentencePair pair{texts(source), texts(target), {}};
  for (size_t i = 0; i < source.words.size(); ++i)
    for (size_t j = 0; j < target.words.size(); ++j)
      if (share_a_number(source.words[i], target.words[j]))
        pair.alignment.emplace_back(static_cast<int>(i), static_cast<int>(j));
  return pair;
}

}  // namespace heed::translate
