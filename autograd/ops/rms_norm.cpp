#include <heed/autograd/ops/rms_norm.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/rms_norm.h>

namespace heed {

Variable rms_norm(const Variable& x, const Variable& weight, double epsilon) {
  auto result = kernels::rms_norm(x.data(), weight.data(), epsilon);
  const Variable* inputs[] = {&x, &weight};
  return record_fused(
      "rms_norm", {result.y}, inputs,
      [scale = result.scale](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::rms_norm_backward(back.grad().data(), in[0], in[1], scale);
        back.give(0, [&] { return std::move(grads.x); });
        back.give(1, [&] { return std::move(grads.weight); });
      },
      [epsilon](std::span<const Variable> in) {
        return std::vector{in[0] * rsqrt(mean(in[0] * in[0], {-1}, true) + epsilon) * in[1]};
      })[0];
}

}  // namespace heed
