#include "translate/data/vocabulary.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <heed/tensor/error.h>
#include <heed/tensor/files/atomic_file.h>

#include "translate/data/lines.h"

namespace heed::translate {
namespace {

constexpr std::array<std::string_view, 4> kMarkers = {"<unk>", "<pad>", "<bos>", "<eos>"};

bool is_marker(std::string_view word) {
  return std::find(kMarkers.begin(), kMarkers.end(), word) != kMarkers.end();
}

using Counted = std::pair<std::string, int64_t>;

/// All words with their frequencies, in the order of their bytes.
std::map<std::string, int64_t> frequencies(std::span<const Sentence> sentences) {
  std::map<std::string, int64_t> counts;
  for (const Sentence& sentence : sentences) {
    for (const std::string& word : sentence) ++counts[word];
  }
  return counts;
}

/// Why a line of a vocabulary file that holds no marker is not acceptable; empty when it is.
std::string_view fault_of(const LineReader& line) {
  if (line.too_long()) return "one of more than a mebibyte";
  if (!line.complete()) return "one without a line feed (is the file cut short?)";
  if (line.text().empty()) return "an empty one";
  if (!is_word(line.text())) return "one with white space or broken UTF-8 in it";
  if (is_marker(line.text())) return "a second marker";
  return {};
}

}  // namespace

Vocabulary::Vocabulary() : words_(kMarkers.begin(), kMarkers.end()) {}

Vocabulary::Vocabulary(std::span<const Sentence> sentences, int64_t min_frequency) : Vocabulary() {
  if (min_frequency < 1)
    raise<ValueError>("[Vocabulary] wanted a minimum frequency of 1 or more, came {}", min_frequency);
  std::vector<Counted> kept;
  for (auto& [word, count] : frequencies(sentences)) {
    if (!is_word(word)) raise<ValueError>("[Vocabulary] wanted words without white space, came \"{}\"", word);
    if (count >= min_frequency && !is_marker(word)) kept.emplace_back(word, count);
  }
  // Stable: equal frequencies keep the order of the bytes.
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Counted& a, const Counted& b) { return a.second > b.second; });
  for (Counted& entry : kept) add(std::move(entry.first));
}

bool Vocabulary::add(std::string word) {
  const bool added = ids_.emplace(word, size()).second;
  if (added) words_.push_back(std::move(word));
  return added;
}

int64_t Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

const std::string& Vocabulary::word(int64_t id) const {
  if (id < 0 || id >= size())
    raise<IndexError>("[Vocabulary::word] wanted an id from 0 to {}, came {}", size() - 1, id);
  return words_[static_cast<size_t>(id)];
}

std::vector<int64_t> Vocabulary::encode(const Sentence& sentence) const {
  std::vector<int64_t> ids;
  ids.reserve(sentence.size() + 1);  // room for the end marker that usually follows
  for (const std::string& word : sentence) ids.push_back(id(word));
  return ids;
}

std::string Vocabulary::decode(std::span<const int64_t> ids) const {
  Sentence sentence;
  for (const int64_t id : ids) {
    if (id == kEnd) break;
    if (id != kBegin && id != kPadding) sentence.push_back(word(id));
  }
  return joined(sentence);
}

void Vocabulary::save(const std::filesystem::path& path) const {
  std::string text;
  for (const std::string& word : words_) text.append(word).push_back('\n');
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(text))); });
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  Vocabulary vocabulary;
  LineReader lines(path, "Vocabulary::load");
  const auto reject = [&](std::string_view wanted, std::string_view came) {
    raise<FileError>("[Vocabulary::load] {}:{}: wanted {}, came {}", path.string(), lines.number(), wanted,
                     came);
  };
  for (const std::string_view marker : kMarkers) {
    if (!lines.next()) reject(marker, "the end of the file");
    if (lines.text() != marker || !lines.complete()) reject(marker, "something else");
  }
  while (lines.next()) {
    const std::string_view fault = fault_of(lines);
    if (!fault.empty()) reject("a line with one word", fault);
    if (!vocabulary.add(lines.text())) reject("each word once", fmt::format("\"{}\" again", lines.text()));
  }
  return vocabulary;
}

}  // namespace heed::translate
