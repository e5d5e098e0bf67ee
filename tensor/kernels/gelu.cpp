#include <heed/tensor/kernels/gelu.h>

#include <cmath>
#include <numbers>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

/// Beyond -40 and 40 Phi is 0 or 1 and its density 0, and the tanh form's sigmoid 0 or 1, in f32 and f64
/// alike. What is bounded meets neither infinity * 0 nor a power that overflows. NaN passes.
template <class T>
T bounded_below(T x) {
  return x < T(-40) ? T(-40) : x;
}

template <class T>
T bounded(T x) {
  const T above = bounded_below(x);
  return above > T(40) ? T(40) : above;
}

/// The normal distribution's cumulative function.
template <class T>
T normal_below(T x) {
  return T(0.5) * (T(1) + internal::fast_erf(x / std::numbers::sqrt2_v<T>));
}

template <class T>
T normal_density(T x) {
  constexpr T kScale = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return kScale * internal::fast_exp(T(-0.5) * x * x);
}

template <class T>
T exact_form(T x) {
  return x * normal_below(x);
}

template <class T>
T exact_form_slope(T x) {
  return normal_below(x) + x * normal_density(x);
}

template <class T>
constexpr T kTwiceInner = 2 * std::numbers::sqrt2_v<T>* std::numbers::inv_sqrtpi_v<T>;
template <class T>
constexpr T kCube = T(0.044715);

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
  return x * internal::fast_sigmoid(twice_inner(x));
}

/// s + x s (1 - s) (2 a)' with s the sigmoid; s (1 - s) = e / (1 + e)^2 with e = exp(-|2 a|).
template <class T>
T tanh_form_slope(T x) {
  const T inner = twice_inner(x), e = internal::fast_exp(-std::abs(inner)), below = T(1) / (T(1) + e);
  const T s = inner < T(0) ? e * below : below;
  return s + x * (e * below * below) * twice_inner_slope(x);
}

}  // namespace

Tensor gelu(const Tensor& x, GeluForm form) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("gelu", x, [&]<class T>(T) {
    if (form == GeluForm::exact)
      internal::map_into<T, T>(out, x, [](T v) { return exact_form(bounded_below(v)); });
    else
      internal::map_into<T, T>(out, x, [](T v) { return tanh_form(bounded_below(v)); });
  });
  return out;
}

Tensor gelu_backward(const Tensor& grad, const Tensor& x, GeluForm form) {
  internal::expect_same_dtype("gelu_backward", grad, x);
  if (grad.shape() != x.shape())
    raise<ShapeError>("[gelu_backward] wanted one shape, came {} and {}", grad.shape(), x.shape());
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("gelu_backward", x, [&]<class T>(T) {
    if (form == GeluForm::exact)
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * exact_form_slope(bounded(v)); });
    else
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * tanh_form_slope(bounded(v)); });
  });
  return out;
}

}  // namespace heed::kernels
