#include <heed/study/internal/packed_rows.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace heed::study::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "pages hold little-endian numbers");

float largest_magnitude(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

/// Adds to `strengths` (columns): the larger of what is there and |value| / the largest of the row.
void raise_strengths(std::span<const float> row, std::vector<float>& strengths) {
  const float largest = largest_magnitude(row);
  for (size_t i = 0; i < row.size(); ++i) {
    const float strength = !std::isfinite(row[i]) ? std::numeric_limits<float>::infinity()
                           : largest > 0          ? std::abs(row[i]) / largest
                                                  : 0;
    strengths[i] = std::max(strengths[i], strength);
  }
}

void append(int16_t number, int bits, std::vector<std::byte>& numbers) {
  const auto code = static_cast<uint16_t>(number);
  numbers.push_back(static_cast<std::byte>(code & 0xff));
  if (bits == 16) numbers.push_back(static_cast<std::byte>(code >> 8));
}

int16_t whole_number(float value, float scale, int limit) {
  if (!std::isfinite(value)) return static_cast<int16_t>(-limit - 1);
  if (scale == 0) return 0;
  const double number = std::round(static_cast<double>(value) / scale);
  return static_cast<int16_t>(std::clamp<double>(number, -limit, limit));
}

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t j = 0; j < count; ++j) word |= std::to_integer<uint32_t>(bytes[i + j]) << (16 - 8 * j);
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kDigits[word >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

bool is_kept(const KeptMask& kept, int64_t row, int64_t columns, int64_t column) {
  return kept.empty() || (kept[row * mask_bytes(columns) + column / 8] >> (column % 8) & 1) != 0;
}

KeptMask strongest(std::span<const float> a, std::span<const float> b, int64_t columns, int64_t count) {
  const int64_t rows = static_cast<int64_t>(a.size()) / columns;
  KeptMask kept(rows * mask_bytes(columns));
  std::vector<float> strengths(columns);
  std::vector<int64_t> order(columns);
  for (int64_t row = 0; row < rows; ++row) {
    std::fill(strengths.begin(), strengths.end(), 0.0F);
    raise_strengths(a.subspan(row * columns, columns), strengths);
    if (!b.empty()) raise_strengths(b.subspan(row * columns, columns), strengths);
    std::iota(order.begin(), order.end(), 0);
    std::nth_element(order.begin(), order.begin() + count, order.end(), [&](int64_t x, int64_t y) {
      return strengths[x] != strengths[y] ? strengths[x] > strengths[y] : x < y;
    });
    for (int64_t i = 0; i < count; ++i) {
      kept[row * mask_bytes(columns) + order[i] / 8] |= static_cast<uint8_t>(1U << (order[i] % 8));
    }
  }
  return kept;
}

PackedRows pack_rows(std::span<const float> values, int64_t columns, int bits, const KeptMask& kept) {
  const int limit = (1 << (bits - 1)) - 1;
  const int64_t rows = static_cast<int64_t>(values.size()) / columns;
  PackedRows packed{.bits = bits, .scales = {}, .numbers = {}};
  for (int64_t row = 0; row < rows; ++row) {
    const auto numbers = values.subspan(row * columns, columns);
    const float scale = largest_magnitude(numbers) / static_cast<float>(limit);
    packed.scales.push_back(scale);
    for (int64_t column = 0; column < columns; ++column) {
      if (is_kept(kept, row, columns, column)) {
        append(whole_number(numbers[column], scale, limit), bits, packed.numbers);
      }
    }
  }
  return packed;
}

}  // namespace heed::study::internal
