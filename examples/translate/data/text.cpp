#include "translate/data/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/ranges.h>
#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

using CodePoint = utf8proc_int32_t;
using CodePoints = std::vector<CodePoint>;

constexpr CodePoint kSpace = ' ';

/// The first code point of `rest` and how many bytes it takes: zero or fewer when they are not valid UTF-8.
struct Decoded {
  CodePoint code;
  utf8proc_ssize_t bytes;
};

Decoded decode_first(std::string_view rest) {
  Decoded first{};
  first.bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                 static_cast<utf8proc_ssize_t>(rest.size()), &first.code);
  return first;
}

/// What parts words: white space as Python's str.split() sees it, that of Unicode and the four ASCII
/// separators, and the other control characters, some of which a terminal would obey.
bool is_between_words(CodePoint code) {
  const utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CC;
}

void append_decomposed(CodePoint code, CodePoints& out) {
  // The longest canonical decomposition of one code point has four.
  std::array<CodePoint, 8> parts{};
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(code, parts.data(), parts.size(),
                              static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE), nullptr);
  out.insert(out.end(), parts.begin(), parts.begin() + count);
}

CodePoints decomposed(std::string_view utf8) {
  CodePoints out;
  out.reserve(utf8.size());
  for (size_t offset = 0; offset < utf8.size();) {
    const Decoded next = decode_first(utf8.substr(offset));
    if (next.bytes <= 0) {
      raise<ValueError>("[clean] wanted valid UTF-8, came byte 0x{:02X} at offset {}",
                        static_cast<unsigned char>(utf8[offset]), offset);
    }
    append_decomposed(next.code, out);
    offset += static_cast<size_t>(next.bytes);
  }
  return out;
}

int combining_class(CodePoint code) { return utf8proc_get_property(code)->combining_class; }

/// Puts each run of combining marks in canonical order. utf8proc_decompose would do it too, but takes
/// quadratic time on a long run, which a file from elsewhere may hold.
void order_marks(CodePoints& codes) {
  const auto is_mark = [](CodePoint code) { return combining_class(code) != 0; };
  auto run = std::find_if(codes.begin(), codes.end(), is_mark);
  while (run != codes.end()) {
    const auto end = std::find_if_not(run, codes.end(), is_mark);
    std::stable_sort(run, end,
                     [](CodePoint a, CodePoint b) { return combining_class(a) < combining_class(b); });
    run = std::find_if(end, codes.end(), is_mark);
  }
}

CodePoints composed(std::string_view utf8) {
  CodePoints codes = decomposed(utf8);
  order_marks(codes);
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  codes.resize(static_cast<size_t>(count));
  return codes;
}

CodePoint simplified(CodePoint code) {
  if (is_between_words(code)) return kSpace;
  if (code == 0x2018 || code == 0x2019) return '\'';
  return utf8proc_tolower(code);
}

bool stands_apart(CodePoint code) { return code == ',' || code == '.' || code == '!' || code == '?'; }

void append_utf8(CodePoint code, std::string& out) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t count = utf8proc_encode_char(code, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(count));
}

}  // namespace

std::string clean(std::string_view utf8) {
  const CodePoints codes = composed(utf8);
  std::string out;
  out.reserve(utf8.size() + 8);
  CodePoint previous = kSpace;  // no space before a mark that opens the text
  for (const CodePoint code : codes) {
    const CodePoint simple = simplified(code);
    if (stands_apart(simple) && previous != kSpace) out += ' ';
    append_utf8(simple, out);
    previous = simple;
  }
  return out;
}

Sentence words(std::string_view utf8) {
  const std::string text = clean(utf8);
  Sentence out;
  for (size_t begin = text.find_first_not_of(' '); begin != std::string::npos;) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return out;
}

std::string joined(const Sentence& sentence) { return fmt::format("{}", fmt::join(sentence, " ")); }

bool is_word(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const Decoded next = decode_first(rest);
    if (next.bytes <= 0 || is_between_words(next.code)) return false;
    rest.remove_prefix(static_cast<size_t>(next.bytes));
  }
  return !text.empty();
}

std::string_view without_byte_order_mark(std::string_view utf8) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (utf8.starts_with(kMark)) utf8.remove_prefix(kMark.size());
  return utf8;
}

}  // namespace heed::translate
