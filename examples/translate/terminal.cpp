#include "translate/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>

namespace heed::translate {
namespace {

constexpr int kUsualColumns = 80;

int columns_of(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

/// A letter of a text: its bytes and its columns. A byte that is no UTF-8 is one column of its own.
struct Letter {
  size_t bytes;
  int columns;
};

Letter first_letter(std::string_view text) {
  utf8proc_int32_t code = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length < 1) return {1, 1};
  return {static_cast<size_t>(length), utf8proc_charwidth(code)};
}

}  // namespace

int error_columns() { return columns_of(STDERR_FILENO); }
int output_columns() { return columns_of(STDOUT_FILENO); }

int display_width(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) {
    const Letter letter = first_letter(utf8);
    width += letter.columns;
    utf8.remove_prefix(letter.bytes);
  }
  return width;
}

std::string fitted(std::string_view utf8, int width) {
  if (width < 1) return "";
  if (display_width(utf8) <= width) return std::string(utf8);
  std::string result;
  int used = 1;  // the ellipsis
  while (!utf8.empty()) {
    const Letter letter = first_letter(utf8);
    if (used + letter.columns > width) break;
    used += letter.columns;
    result += utf8.substr(0, letter.bytes);
    utf8.remove_prefix(letter.bytes);
  }
  return result + "…";
}

}  // namespace heed::translate
