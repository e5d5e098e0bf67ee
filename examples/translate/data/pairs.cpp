#include "translate/data/pairs.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <heed/tensor/error.h>

#include "translate/data/lines.h"

namespace heed::translate {
namespace {

/// Removes and returns what stands before the first `separator`, or everything when there is none.
std::string_view take_until(char separator, std::string_view& rest) {
  const size_t end = rest.find(separator);
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return first;
}

std::optional<int> parse_index(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

/// The links of a column; nothing when it holds anything else, and so is no alignment at all.
std::optional<Alignment> parse_alignment(std::string_view column) {
  Alignment alignment;
  while (!column.empty()) {
    std::string_view link = take_until(' ', column);
    const std::optional<int> source = parse_index(take_until('-', link));
    const std::optional<int> target = parse_index(link);
    if (!source || !target) return std::nullopt;
    alignment.emplace_back(*source, *target);
  }
  return alignment;
}

void check_links(const SentencePair& pair) {
  for (const auto& [source, target] : pair.alignment) {
    if (static_cast<size_t>(source) >= pair.source.size() ||
        static_cast<size_t>(target) >= pair.target.size()) {
      raise<ValueError>("wanted links between {} and {} words, came {}-{}", pair.source.size(),
                        pair.target.size(), source, target);
    }
  }
}

/// Throws ValueError, with a message that starts at what was wanted, for a line that holds no pair.
SentencePair parse_line(std::string_view line) {
  if (line.empty()) raise<ValueError>("wanted source, tab, target, came a blank line");
  if (line.find('\r') != std::string_view::npos)
    raise<ValueError>("wanted lines that end in LF or CRLF, came a CR alone");
  if (line.find('\t') == std::string_view::npos) raise<ValueError>("wanted a tab, came none");
  SentencePair pair;
  pair.source = words(take_until('\t', line));
  pair.target = words(take_until('\t', line));
  if (pair.source.empty()) raise<ValueError>("wanted a source sentence, came none");
  if (pair.target.empty()) raise<ValueError>("wanted a target sentence, came none");
  pair.alignment = parse_alignment(take_until('\t', line)).value_or(Alignment{});
  check_links(pair);
  return pair;
}

/// The line without a byte order mark at the start of the file and without the CR of a CRLF.
std::string_view content(const LineReader& lines) {
  std::string_view text = lines.text();
  if (lines.number() == 1) text = without_byte_order_mark(text);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

void note(LoadReport& report, int64_t line, std::string_view problem) {
  ++report.skipped;
  if (report.problems.size() < LoadReport::kKept)
    report.problems.push_back(fmt::format("line {}: {}", line, problem));
}

std::vector<Sentence> side(const std::vector<SentencePair>& pairs, Sentence SentencePair::*member) {
  std::vector<Sentence> sentences;
  sentences.reserve(pairs.size());
  for (const SentencePair& pair : pairs) sentences.push_back(pair.*member);
  return sentences;
}

}  // namespace

LoadedPairs read_pairs(const std::filesystem::path& path, const ReadOptions& options) {
  if (options.limit < 0)
    raise<ValueError>("[read_pairs] wanted a limit of 0 (all) or more, came {}", options.limit);
  LineReader lines(path, "read_pairs");
  LoadedPairs loaded;
  const auto wanted_more = [&] {
    return options.limit == 0 || static_cast<int64_t>(loaded.pairs.size()) < options.limit;
  };
  while (wanted_more() && lines.next()) {
    try {
      if (lines.too_long()) raise<ValueError>("wanted at most {} bytes, came more", LineReader::kLongestLine);
      loaded.pairs.push_back(parse_line(content(lines)));
    } catch (const ValueError& error) {
      if (options.strict)
        raise<FileError>("[read_pairs] {}:{}: {}", path.string(), lines.number(), error.what());
      note(loaded.report, lines.number(), error.what());
    }
  }
  if (lines.number() == 0)
    raise<FileError>("[read_pairs] {}: wanted sentence pairs, came an empty file", path.string());
  if (loaded.pairs.empty()) {
    raise<FileError>("[read_pairs] {}: wanted lines of source, tab, target, came none in {} lines ({})",
                     path.string(), lines.number(), loaded.report.problems.front());
  }
  return loaded;
}

std::string format_alignment(const Alignment& alignment) {
  std::string text;
  for (const auto& [source, target] : alignment) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", source, target);
  }
  return text;
}

std::vector<Sentence> sources(const std::vector<SentencePair>& pairs) {
  return side(pairs, &SentencePair::source);
}

std::vector<Sentence> targets(const std::vector<SentencePair>& pairs) {
  return side(pairs, &SentencePair::target);
}

}  // namespace heed::translate
