#include <heed/autograd/ops/gru_cell.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/gru_cell.h>

namespace heed {
namespace {

Variable reference(std::span<const Variable> in) {
  const Variable &gx = in[0], &gh = in[1], &h = in[2];
  const int64_t hidden = h.size(1);
  const auto part = [&](const Variable& gates, int64_t i) {
    return gates.slice(1, i * hidden, (i + 1) * hidden);
  };
  const Variable r = sigmoid(part(gx, 0) + part(gh, 0));
  const Variable z = sigmoid(part(gx, 1) + part(gh, 1));
  const Variable n = tanh(part(gx, 2) + r * part(gh, 2));
  return (1 - z) * n + z * h;
}

}  // namespace

Variable gru_cell(const Variable& gx, const Variable& gh, const Variable& h) {
  auto result = kernels::gru_cell(gx.data(), gh.data(), h.data());
  const Variable* inputs[] = {&gx, &gh, &h};
  return record_fused(
      "gru_cell", {result.h}, inputs,
      [gates = result.gates](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::gru_cell_backward(back.grad().data(), in[1], in[2], gates);
        back.give(0, [&] { return std::move(grads.gx); });
        back.give(1, [&] { return std::move(grads.gh); });
        back.give(2, [&] { return std::move(grads.h); });
      },
      [](std::span<const Variable> in) { return std::vector{reference(in)}; })[0];
}

}  // namespace heed
