#include <heed/tensor/kernels/unary.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

template <class F>
Tensor unary(const char* op, const Tensor& x, F f) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating(op, x, [&]<class T>(T) { internal::map_into<T, T>(out, x, f); });
  return out;
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

Tensor neg(const Tensor& x) {
  return unary("neg", x, [](auto v) { return -v; });
}

Tensor exp(const Tensor& x) {
  return unary("exp", x, [](auto v) { return internal::fast_exp(v); });
}

Tensor log(const Tensor& x) {
  return unary("log", x, [](auto v) { return internal::fast_log(v); });
}

Tensor sqrt(const Tensor& x) {
  return unary("sqrt", x, [](auto v) { return std::sqrt(v); });
}

Tensor rsqrt(const Tensor& x) {
  return unary("rsqrt", x, [](auto v) { return decltype(v)(1) / std::sqrt(v); });
}

Tensor abs(const Tensor& x) {
  return unary("abs", x, [](auto v) { return std::abs(v); });
}

Tensor sign(const Tensor& x) {
  return unary("sign", x, [](auto v) {
    using T = decltype(v);
    const T positive = v > 0 ? T(1) : v;
    return positive < 0 ? T(-1) : positive;
  });
}

Tensor sin(const Tensor& x) {
  return unary("sin", x, [](auto v) { return internal::fast_sin(v); });
}

Tensor cos(const Tensor& x) {
  return unary("cos", x, [](auto v) { return internal::fast_cos(v); });
}

Tensor erf(const Tensor& x) {
  return unary("erf", x, [](auto v) { return internal::fast_erf(v); });
}

Tensor tanh(const Tensor& x) {
  return unary("tanh", x, [](auto v) { return internal::fast_tanh(v); });
}

Tensor sigmoid(const Tensor& x) {
  return unary("sigmoid", x, [](auto v) { return internal::fast_sigmoid(v); });
}

Tensor relu(const Tensor& x) {
  // Written so that NaN passes through.
  return unary("relu", x, [](auto v) { return v < 0 ? decltype(v)(0) : v; });
}

Tensor relu_backward(const Tensor& grad, const Tensor& x) {
  return gated("relu_backward", grad, x, [](auto v) { return v > 0; });
}

Tensor clamp(const Tensor& x, double low, double high) {
  expect_range(low, high);
  return unary("clamp", x, [=](auto v) {
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
