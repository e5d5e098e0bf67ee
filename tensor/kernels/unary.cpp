#include <heed/tensor/kernels/unary.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/strided.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

template <class F>
Tensor unary(const char* op, const Tensor& x, Tensor* into, F f, int64_t chunk = internal::kElementChunk) {
  return internal::fill_result(
      op, into, x.shape(), x.dtype(), internal::Writes::in_step, {&x}, [&](Tensor& out) {
        internal::dispatch_floating(op, x, [&]<class T>(T) { internal::map_into<T, T>(out, x, f, chunk); });
      });
}

template <class F>
Tensor costly(const char* op, const Tensor& x, Tensor* into, F f) {
  return unary(op, x, into, f, internal::kFunctionChunk);
}

/// grad where `passes` says so of x, else 0.
template <class F>
Tensor gated(const char* op, const Tensor& grad, const Tensor& x, F passes) {
  internal::expect_same_dtype(op, grad, x);
  Tensor out = Tensor::empty(broadcast_shapes(op, grad.shape(), x.shape()), x.dtype());
  internal::dispatch_floating(op, x, [&]<class T>(T) {
    internal::map_into<T, T>(out, grad, x, [=](T g, T v) { return passes(v) ? g : T(0); });
  });
  return out;
}

void expect_range(double low, double high) {
  if (!(low <= high)) raise<ValueError>("[clamp] wanted low <= high, came {} and {}", low, high);
}

}  // namespace

Tensor neg(const Tensor& x, Tensor* into) {
  return unary("neg", x, into, [](auto v) { return -v; });
}

Tensor exp(const Tensor& x, Tensor* into) {
  return costly("exp", x, into, [](auto v) { return internal::fast_exp(v); });
}

Tensor log(const Tensor& x, Tensor* into) {
  return costly("log", x, into, [](auto v) { return internal::fast_log(v); });
}

Tensor sqrt(const Tensor& x, Tensor* into) {
  return unary("sqrt", x, into, [](auto v) { return std::sqrt(v); });
}

Tensor rsqrt(const Tensor& x, Tensor* into) {
  return unary("rsqrt", x, into, [](auto v) { return decltype(v)(1) / std::sqrt(v); });
}

Tensor abs(const Tensor& x, Tensor* into) {
  return unary("abs", x, into, [](auto v) { return std::abs(v); });
}

Tensor sign(const Tensor& x, Tensor* into) {
  return unary("sign", x, into, [](auto v) {
    using T = decltype(v);
    const T positive = v > 0 ? T(1) : v;
    return positive < 0 ? T(-1) : positive;
  });
}

Tensor sin(const Tensor& x, Tensor* into) {
  return costly("sin", x, into, [](auto v) { return internal::fast_sin(v); });
}

Tensor cos(const Tensor& x, Tensor* into) {
  return costly("cos", x, into, [](auto v) { return internal::fast_cos(v); });
}

Tensor erf(const Tensor& x, Tensor* into) {
  return costly("erf", x, into, [](auto v) { return internal::fast_erf(v); });
}

Tensor tanh(const Tensor& x, Tensor* into) {
  return costly("tanh", x, into, [](auto v) { return internal::fast_tanh(v); });
}

Tensor sigmoid(const Tensor& x, Tensor* into) {
  return costly("sigmoid", x, into, [](auto v) { return internal::fast_sigmoid(v); });
}

Tensor relu(const Tensor& x, Tensor* into) {
  // Written so that NaN passes through.
  return unary("relu", x, into, [](auto v) { return v < 0 ? decltype(v)(0) : v; });
}

Tensor relu_backward(const Tensor& grad, const Tensor& x) {
  return gated("relu_backward", grad, x, [](auto v) { return v > 0; });
}

Tensor clamp(const Tensor& x, double low, double high, Tensor* into) {
  expect_range(low, high);
  return unary("clamp", x, into, [=](auto v) {
    using T = decltype(v);
    const T above = v < static_cast<T>(low) ? static_cast<T>(low) : v;
    return above > static_cast<T>(high) ? static_cast<T>(high) : above;
  });
}

Tensor clamp_backward(const Tensor& grad, const Tensor& x, double low, double high) {
  expect_range(low, high);
  return gated("clamp_backward", grad, x, [=](auto v) {
    using T = decltype(v);
    return v >= static_cast<T>(low) && v <= static_cast<T>(high);
  });
}

}  // namespace heed::kernels
