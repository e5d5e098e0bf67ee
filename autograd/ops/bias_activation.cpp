#include <heed/autograd/ops/bias_activation.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/gelu.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>

namespace heed {
namespace {

Variable activate(const Variable& x, Activation activation) {
  switch (activation) {
    case Activation::relu: return relu(x);
    case Activation::gelu: return gelu(x);
    case Activation::tanh: return tanh(x);
    case Activation::sigmoid: break;
  }
  return sigmoid(x);
}

}  // namespace

Variable bias_activation(const Variable& x, const Variable& bias, Activation activation) {
  const Variable* inputs[] = {&x, &bias};
  return record_fused(
      "bias_activation", {kernels::bias_activation(x.data(), bias.data(), activation)}, inputs,
      [activation](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::bias_activation_backward(back.grad().data(), in[0], in[1], activation);
        back.give(0, [&] { return std::move(grads.x); });
        back.give(1, [&] { return std::move(grads.bias); });
      },
      [activation](std::span<const Variable> in) {
        return std::vector{activate(in[0] + in[1], activation)};
      })[0];
}

}  // namespace heed
