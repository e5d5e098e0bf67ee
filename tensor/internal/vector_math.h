#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Functions that vectorize. GCC calls glibc's vector library inside a `#pragma omp simd` loop when the
/// function is declared so; without the declaration each element is a scalar call, ten times slower.
extern "C" {
#pragma omp declare simd notinbranch
double exp(double) noexcept;
#pragma omp declare simd notinbranch
float logf(float) noexcept;
#pragma omp declare simd notinbranch
double log(double) noexcept;
#pragma omp declare simd notinbranch
float erff(float) noexcept;
#pragma omp declare simd notinbranch
double erf(double) noexcept;
#pragma omp declare simd notinbranch
float sinf(float) noexcept;
#pragma omp declare simd notinbranch
double sin(double) noexcept;
#pragma omp declare simd notinbranch
float cosf(float) noexcept;
#pragma omp declare simd notinbranch
double cos(double) noexcept;
#pragma omp declare simd notinbranch
float tanhf(float) noexcept;
#pragma omp declare simd notinbranch
double tanh(double) noexcept;
}

namespace heed::internal {

/// exp within 1 unit in the last place, written out so that it becomes part of the loop around it: the
/// library's vector version leaves the fast path for -infinity, which is what masks are made of. exp(x) = 2^n
/// exp(r) with n = round(x / ln 2) and |r| <= ln(2) / 2, where a polynomial of degree 6 is off by 3e-9.
inline float fast_exp(float x) {
  // Below -104 the result is 0. It is computed as exp(0) there, because numbers below the smallest normal one
  // would cost a hundred times more.
  const bool vanishes = x < -104;
  const float bounded = vanishes ? 0.0f : x;
  // 1.5 * 2^23: a sum with it is rounded to a whole number, which then is in its last bits
  constexpr float kRounder = 12582912.0f;
  const float shifted = bounded * 1.44269504f + kRounder;
  const float n = shifted - kRounder;
  // ln 2 in two parts, the first short enough for n times it to be exact
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float series = 1.38146e-3f;
  series = series * r + 8.36872e-3f;
  series = series * r + 4.166839e-2f;
  series = series * r + 1.6666521e-1f;
  series = series * r + 4.9999993e-1f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  // 2^n in two factors, for results below the smallest normal number; products, so that NaN stays NaN
  const int32_t power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRounder);
  const int32_t half = power >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((power - half + 127) << 23);
  const float value = vanishes ? 0.0f : series * first * second;
  return x > 89 ? std::numeric_limits<float>::infinity() : value;
}
inline float fast_erf(float x) { return ::erff(x); }
inline double fast_erf(double x) { return ::erf(x); }
inline float fast_sin(float x) { return ::sinf(x); }
inline double fast_sin(double x) { return ::sin(x); }
inline float fast_cos(float x) { return ::cosf(x); }
inline double fast_cos(double x) { return ::cos(x); }
inline double fast_exp(double x) { return ::exp(x); }
inline float fast_log(float x) { return ::logf(x); }
inline double fast_log(double x) { return ::log(x); }
inline float fast_tanh(float x) { return ::tanhf(x); }
inline double fast_tanh(double x) { return ::tanh(x); }

/// `value` where kept, else 0. The value is a plain argument and the mask a byte: a conditional load, or a
/// load of bool, would keep a loop from vectorizing.
template <class T>
T keep_or_zero(uint8_t kept, T value) {
  return kept != 0 ? value : T(0);
}

/// The same by its bits, for the few elements that fill no vector: there a choice would become a branch, and
/// those of a random mask are guessed wrong.
template <class T>
T keep_or_zero_bits(uint8_t kept, T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<T>(std::bit_cast<Bits>(value) & (Bits(0) - Bits(kept != 0)));
}

/// 1 / (1 + exp(-x)); exp overflows to infinity for large negative x, which gives the right 0.
template <class T>
T fast_sigmoid(T x) {
  return T(1) / (T(1) + fast_exp(-x));
}

}  // namespace heed::internal
