#include <heed/tensor/files/quote.h>

#include <fmt/core.h>

namespace heed {

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 200;
  std::string result = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f)
      result += fmt::format("\\x{:02x}", code);
    else if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace heed
