#pragma once

#include <bit>
#include <cstdint>

namespace heed {

/// The value of an IEEE 754 half-precision number (1 sign, 5 exponent, 10 fraction bits); every one is an
/// f32.
inline float half_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormal numbers: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  // Infinity and NaN keep the largest exponent; the others move from a bias of 15 to one of 127.
  const uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

}  // namespace heed
