#include <heed/autograd/ops/additive_score.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/additive_score.h>

namespace heed {

Variable additive_score(const Variable& q, const Variable& k, const Variable& weight) {
  const Variable* inputs[] = {&q, &k, &weight};
  return record_fused(
      "additive_score", {kernels::additive_score(q.data(), k.data(), weight.data())}, inputs,
      [](Backward& back, const std::vector<Tensor>& in) {
        auto grads = kernels::additive_score_backward(back.grad().data(), in[0], in[1], in[2]);
        back.give(0, [&] { return std::move(grads.q); });
        back.give(1, [&] { return std::move(grads.k); });
        back.give(2, [&] { return std::move(grads.weight); });
      },
      [](std::span<const Variable> in) {
        const Variable sums = in[0].unsqueeze(2) + in[1].unsqueeze(1);  // (batch, queries, keys, hidden)
        return std::vector{sum(tanh(sums) * in[2], {-1})};
      })[0];
}

}  // namespace heed
