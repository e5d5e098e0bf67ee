#include <heed/autograd/ops/layer_norm.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/layer_norm.h>

namespace heed {

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double epsilon) {
  auto result = kernels::layer_norm(x.data(), weight.data(), bias.data(), epsilon);
  const Variable* inputs[] = {&x, &weight, &bias};
  return record_fused(
      "layer_norm", {result.y}, inputs,
      [mean = result.mean, deviation = result.deviation](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::layer_norm_backward(back.grad().data(), in[0], in[1], mean, deviation);
        back.give(0, [&] { return std::move(grads.x); });
        back.give(1, [&] { return std::move(grads.weight); });
        back.give(2, [&] { return std::move(grads.bias); });
      },
      [epsilon](std::span<const Variable> in) {
        const Variable centered = in[0] - mean(in[0], {-1}, true);
        const Variable variance = mean(centered * centered, {-1}, true);
        return std::vector{centered / sqrt(variance + epsilon) * in[1] + in[2]};
      })[0];
}

}  // namespace heed
