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
  internal::expect_same_dtype("relu_backward", grad, x);
  Tensor out = Tensor::empty(broadcast_shapes("relu_backward", grad.shape(), x.shape()), x.dtype());
  internal::dispatch_floating("relu_backward", x, [&]<class T>(T) {
    internal::map_into<T, T>(out, grad, x, [](T g, T v) { return v > 0 ? g : T(0); });
  });
  return out;
}

}  // namespace heed::kernels
