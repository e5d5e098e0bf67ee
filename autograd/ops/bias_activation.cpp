#include <heed/autograd/ops/bias_activation.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/gelu.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>

namespace heed {

Variable activate(const Variable& x, ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu: return relu(x);
    case ActivationKind::gelu: return gelu(x);
    case ActivationKind::tanh: return tanh(x);
    case ActivationKind::sigmoid: break;
  }
  return sigmoid(x);
}

Variable bias_activation(const Variable& x, const Variable& bias, ActivationKind kind) {
  const Variable* inputs[] = {&x, &bias};
  return record_fused(
      "bias_activation", {kernels::bias_activation(x.data(), bias.data(), kind)}, inputs,
      [kind](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::bias_activation_backward(back.grad().data(), in[0], in[1], kind);
        back.give(0, [&] { return std::move(grads.x); });
        back.give(1, [&] { return std::move(grads.bias); });
      },
      [kind](std::span<const Variable> in) { return std::vector{activate(in[0] + in[1], kind)}; })[0];
}

}  // namespace heed
