#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heed {

/// A 16-bit float with the exponent range of f32 and 8 bits of precision; arithmetic goes through float.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; NaN stays NaN.
  explicit bfloat16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits =
        static_cast<uint16_t>(is_nan ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// The element types of a tensor. What only moves elements takes all of them. bf16 is taken by products,
/// attention, arithmetic, sums and means, and by casts; all else says in a DTypeError that it wants f32 or
/// f64.
enum class DType : uint8_t { f32, f64, bf16, i64, boolean };

/// Bytes of one element.
constexpr int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return 4;
    case DType::bf16: return 2;
    case DType::boolean: return 1;
    case DType::f64:
    case DType::i64: break;
  }
  return 8;
}

constexpr bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16;
}

/// "f32", "f64", "bf16", "i64", "bool".
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::bf16: return "bf16";
    case DType::i64: return "i64";
    case DType::boolean: break;
  }
  return "bool";
}

/// The DType of the C++ type T: float, double, bfloat16, int64_t or bool.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else {
    static_assert(std::is_same_v<T, bool>, "no DType holds this C++ type");
    return DType::boolean;
  }
}

}  // namespace heed
