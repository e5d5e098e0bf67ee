#include <heed/autograd/ops/gelu.h>

#include <numbers>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>

namespace heed {
namespace {

Variable reference(const Variable& x, GeluForm form) {
  if (form == GeluForm::exact) return 0.5 * x * (1 + erf(x / std::numbers::sqrt2));
  constexpr double kInner = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1 + tanh(kInner * (x + 0.044715 * pow(x, 3))));
}

}  // namespace

Variable gelu(const Variable& x, GeluForm form) {
  const Variable* inputs[] = {&x};
  return record_fused(
      "gelu", {kernels::gelu(x.data(), form)}, inputs,
      [form](Backward& back, const std::vector<Tensor>& in) {
        back.give(0, [&] { return kernels::gelu_backward(back.grad().data(), in[0], form); });
      },
      [form](std::span<const Variable> in) { return std::vector{reference(in[0], form)}; })[0];
}

}  // namespace heed
