#include <heed/tensor/kernels/gelu.h>

#include <array>
#include <cmath>
#include <numbers>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/strided.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

/// Beyond -40 and 40 Phi is 0 or 1 and its density 0, and the tanh form's sigmoid 0 or 1, in f32 and f64
/// alike. What is bounded meets neither infinity * 0 nor a power that overflows. NaN passes.
template <class T>
T bounded(T x) {
  const T above = x < T(-40) ? T(-40) : x;
  return above > T(40) ? T(40) : above;
}

/// The normal distribution's tail Phi(-t) for t >= 0, where e = exp(-t^2 / 2). The ratio of the two falls
/// from 1/2 slowly, so a polynomial (a fit of our own, in t / 2.75 - 1) gives it within 3e-7 of itself up
/// to 5.5. Beyond, where the tail is below 2e-8, the ratio stays what it is there.
float normal_tail(float t, float e) {
  constexpr std::array kRatio{3.61850951e-04f, -8.25231080e-04f, 3.31709598e-04f, -2.78477237e-04f,
                              2.26793857e-03f, -4.49231965e-03f, 6.58126874e-03f, -1.08248563e-02f,
                              1.80780347e-02f, -2.84361225e-02f, 4.27339002e-02f, -6.14860207e-02f,
                              8.40918869e-02f, -1.08485602e-01f, 1.30724743e-01f};
  const float at = internal::least(t, 5.5f) * (1 / 2.75f) - 1;
  float ratio = kRatio[0];
  for (size_t i = 1; i < kRatio.size(); ++i) ratio = ratio * at + kRatio[i];
  return e * ratio;
}

double normal_tail(double t, double) { return 0.5 * (1 - internal::fast_erf(t / std::numbers::sqrt2)); }

/// exp(-t^2 / 2)
template <class T>
T bell(T t) {
  return internal::fast_exp(T(-0.5) * t * t);
}

/// x Phi(x) = max(x, 0) - |x| Phi(-|x|), where nothing cancels on either side.
template <class T>
T exact_form(T x) {
  const T t = internal::least(std::abs(x), T(40));
  return (x < 0 ? T(0) : x) - t * normal_tail(t, bell(t));
}

template <class T>
T exact_form_slope(T x) {
  constexpr T kDensity = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  const T t = internal::least(std::abs(x), T(40)), e = bell(t);
  const T below = normal_tail(t, e) - t * e * kDensity;  // the slope at -t
  const T slope = x < 0 ? below : T(1) - below;
  return x == x ? slope : x;
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
  const T y = x * internal::fast_sigmoid(twice_inner(x));
  return x < T(-40) ? T(0) : y;  // at -infinity y is no number
}

/// s + x s (1 - s) (2 a)' with s the sigmoid; s (1 - s) = e / (1 + e)^2 with e = exp(-|2 a|).
template <class T>
T tanh_form_slope(T any) {
  const T x = bounded(any);
  const T inner = twice_inner(x), e = internal::fast_exp(-std::abs(inner)), below = T(1) / (T(1) + e);
  const T s = inner < T(0) ? e * below : below;
  return s + x * (e * below * below) * twice_inner_slope(x);
}

}  // namespace

Tensor gelu(const Tensor& x, GeluForm form, Tensor* into) {
  return internal::fill_result("gelu", into, x.shape(), x.dtype(), internal::Writes::in_step, {&x},
                               [&](Tensor& out) {
                                 internal::dispatch_floating("gelu", x, [&]<class T>(T) {
                                   if (form == GeluForm::exact)
                                     internal::map_into<T, T>(
                                         out, x, [](T v) { return exact_form(v); }, internal::kFunctionChunk);
                                   else
                                     internal::map_into<T, T>(
                                         out, x, [](T v) { return tanh_form(v); }, internal::kFunctionChunk);
                                 });
                               });
}

Tensor gelu_backward(const Tensor& grad, const Tensor& x, GeluForm form) {
  internal::expect_same_dtype("gelu_backward", grad, x);
  if (grad.shape() != x.shape())
    raise<ShapeError>("[gelu_backward] wanted one shape, came {} and {}", grad.shape(), x.shape());
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("gelu_backward", x, [&]<class T>(T) {
    if (form == GeluForm::exact)
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * exact_form_slope(v); });
    else
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * tanh_form_slope(v); });
  });
  return out;
}

}  // namespace heed::kernels
