#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

/// Reads back what a page holds, without the library's help.
namespace heed::study::test {

/// The text of the page's data element, up to the first thing that ends it for a browser.
inline std::string data_text(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

inline nlohmann::json data_of(const std::string& page) { return nlohmann::json::parse(data_text(page)); }

inline std::vector<uint8_t> bytes_of(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (count -= 8)));
  }
  return bytes;
}

/// Rows as they were packed: (rows * columns), 0 for what was left out and NaN for what is not finite;
/// `scales` is that of each row.
struct UnpackedRows {
  std::vector<double> values;
  std::vector<float> scales;
  std::vector<bool> kept;
};

inline UnpackedRows unpack(const nlohmann::json& block, int64_t columns, const std::string& mask = "") {
  const auto scale_bytes = bytes_of(block["scales"]), numbers = bytes_of(block["numbers"]),
             kept = bytes_of(mask);
  const size_t width = block["bits"].get<size_t>() / 8;
  UnpackedRows rows;
  rows.scales.resize(scale_bytes.size() / sizeof(float));
  std::memcpy(rows.scales.data(), scale_bytes.data(), scale_bytes.size());
  size_t next = 0;
  for (size_t row = 0; row < rows.scales.size(); ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const bool is_kept =
          kept.empty() || (kept[row * ((columns + 7) / 8) + column / 8] >> (column % 8) & 1) != 0;
      rows.kept.push_back(is_kept);
      if (!is_kept) {
        rows.values.push_back(0);
        continue;
      }
      const int16_t number = width == 1 ? static_cast<int8_t>(numbers[next])
                                        : static_cast<int16_t>(numbers[next] | numbers[next + 1] << 8);
      next += width;
      const bool is_finite = number != (width == 1 ? -128 : -32768);
      rows.values.push_back(is_finite ? static_cast<double>(number) * rows.scales[row] : std::nan(""));
    }
  }
  EXPECT_EQ(next, numbers.size());
  return rows;
}

}  // namespace heed::study::test
