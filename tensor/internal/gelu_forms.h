#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include <heed/tensor/internal/vector_math.h>

/// The two forms of the Gaussian error linear unit and their slopes, number by number. The slopes are long
/// enough for the compiler to call them unless they are said to be inline, and around a call no loop
/// vectorizes.
namespace heed::internal {

/// Beyond -40 and 40 Phi is 0 or 1 and its density 0, and the tanh form's sigmoid 0 or 1, in f32 and f64
/// alike. What is bounded meets neither infinity * 0 nor a power that overflows. NaN passes.
template <class T>
T bounded(T x) {
  const T above = x < T(-40) ? T(-40) : x;
  return above > T(40) ? T(40) : above;
}

/// The normal distribution's cumulative function. Phi(x) - 1/2 is x times a function of x^2, here a
/// polynomial in x^2 / 15.125 - 1 (a fit of our own), within 1.5e-7 up to |x| = 5.5, where Phi is 2e-8 from
/// its end.
inline float normal_below(float x) {
  constexpr std::array kPerX{-2.36417181e-04f, 6.31559524e-04f, -5.29133948e-04f, 7.20104843e-04f,
                             -2.41864682e-03f, 4.62178281e-03f, -6.81991177e-03f, 1.02278264e-02f,
                             -1.49990777e-02f, 2.03645676e-02f, -2.60482598e-02f, 3.20702605e-02f,
                             -3.87927853e-02f, 4.77376282e-02f, -6.41723350e-02f, 1.28551930e-01f};
  const float at = x * x * (1 / 15.125f) - 1;
  float per_x = kPerX[0];
  for (size_t i = 1; i < kPerX.size(); ++i) per_x = per_x * at + kPerX[i];
  const float inner = x * per_x + 0.5f;
  const float low = x < -5.5f ? 0.0f : inner;
  return x > 5.5f ? 1.0f : low;
}

inline double normal_below(double x) { return 0.5 * (1 + fast_erf(x / std::numbers::sqrt2)); }

template <class T>
T normal_density(T x) {
  constexpr T kScale = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return kScale * fast_exp(T(-0.5) * x * x);
}

template <class T>
T exact_form(T x) {
  const T y = x * normal_below(x);
  return x < T(-40) ? T(0) : y;  // at -infinity y is no number
}

template <class T>
inline T exact_form_slope(T any) {
  const T x = bounded(any);
  return normal_below(x) + x * normal_density(x);
}

template <class T>
inline constexpr T kTwiceInner = 2 * std::numbers::sqrt2_v<T>* std::numbers::inv_sqrtpi_v<T>;
template <class T>
inline constexpr T kCube = T(0.044715);

/// (1 + tanh(a)) / 2 = 1 / (1 + exp(-2 a)), which loses no digits where tanh nears -1; this is 2 a.
template <class T>
T twice_inner(T x) {
  return kTwiceInner<T> * (x + kCube<T> * x * x * x);
}

template <class T>
T twice_inner_slope(T x) {
  return kTwiceInner<T> * (T(1) + T(3) * kCube<T> * x * x);
}

template <class T>
T tanh_form(T x) {
  const T y = x * fast_sigmoid(twice_inner(x));
  return x < T(-40) ? T(0) : y;
}

/// s + x s (1 - s) (2 a)' with s the sigmoid; s (1 - s) = e / (1 + e)^2 with e = exp(-|2 a|).
template <class T>
inline T tanh_form_slope(T any) {
  const T x = bounded(any);
  const T inner = twice_inner(x), e = fast_exp(-std::abs(inner)), below = T(1) / (T(1) + e);
  const T s = inner < T(0) ? e * below : below;
  return s + x * (e * below * below) * twice_inner_slope(x);
}

}  // namespace heed::internal
