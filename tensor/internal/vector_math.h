#pragma once

#include <cmath>
#include <cstdint>

/// Functions that vectorize. GCC calls glibc's vector library inside a `#pragma omp simd` loop when the
/// function is declared so; without the declaration each element is a scalar call, ten times slower.
#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" double exp(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" float logf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" double log(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" float tanhf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" double tanh(double) noexcept;

namespace heed::internal {

inline float fast_exp(float x) {
  return ::expf(x);
}
inline double fast_exp(double x) {
  return ::exp(x);
}
inline float fast_log(float x) {
  return ::logf(x);
}
inline double fast_log(double x) {
  return ::log(x);
}
inline float fast_tanh(float x) {
  return ::tanhf(x);
}
inline double fast_tanh(double x) {
  return ::tanh(x);
}

/// `value` where kept, else 0. The value is a plain argument and the mask a byte: a conditional load, or a load of
/// bool, would keep a loop from vectorizing.
template <class T>
T keep_or_zero(uint8_t kept, T value) {
  return kept != 0 ? value : T(0);
}

/// 1 / (1 + exp(-x)); exp overflows to infinity for large negative x, which gives the right 0.
template <class T>
T fast_sigmoid(T x) {
  return T(1) / (T(1) + fast_exp(-x));
}

}  // namespace heed::internal
