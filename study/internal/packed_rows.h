#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// How numbers stand in a page: rows of whole numbers with a scale each, as base64.
namespace heed::study::internal {

/// Base64 with padding (RFC 4648, section 4).
std::string base64(std::span<const std::byte> bytes);

/// Which numbers of each row are kept: a bit a column, lowest first, in whole bytes a row. Empty: all of
/// them.
using KeptMask = std::vector<uint8_t>;

/// The bytes of one row of a mask.
constexpr int64_t mask_bytes(int64_t columns) { return (columns + 7) / 8; }

bool is_kept(const KeptMask& kept, int64_t row, int64_t columns, int64_t column);

/// The strongest `count` of each row. A place is as strong as the larger of |a| and |b|, each compared with
/// the largest of its row, so that one choice serves both; `b` may be empty. Numbers that are not finite come
/// first, and of equals the ones further left.
KeptMask strongest(std::span<const float> a, std::span<const float> b, int64_t columns, int64_t count);

/// Numbers of each row as `numbers * scale of the row`. Off by half a scale at most, which is the largest
/// magnitude of the row divided by 2 * (2^(bits - 1) - 1). What is not finite becomes the lowest whole
/// number.
struct PackedRows {
  int bits = 16;                   ///< 8 or 16
  std::vector<float> scales;       ///< (rows)
  std::vector<std::byte> numbers;  ///< those kept, row after row, little-endian
};

PackedRows pack_rows(std::span<const float> values, int64_t columns, int bits, const KeptMask& kept = {});

}  // namespace heed::study::internal
