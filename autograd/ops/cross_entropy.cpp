#include <heed/autograd/ops/cross_entropy.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/record.h>

namespace heed {
namespace {

struct Losses {
  Variable each;
  int64_t counted;
};

Losses losses(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  auto result = kernels::cross_entropy(logits.data(), targets, options);
  const Variable* input = &logits;
  auto outputs = record_fused(
      "cross_entropy", {result.losses}, {&input, 1},
      [=, logsumexp = result.logsumexp](Backward& back, const std::vector<Tensor>& inputs) {
        back.give(0, [&] {
          return kernels::cross_entropy_backward(back.grad().data(), inputs[0], targets, logsumexp, options);
        });
      },
      [=](std::span<const Variable> inputs) {
        const Variable& x = inputs[0];
        const Tensor picks = kernels::negative_target_distribution(targets, x.size(-1), options, x.dtype());
        return std::vector{sum(log_softmax(x, -1) * picks, {-1})};
      },
      {targets});
  return {std::move(outputs[0]), result.counted};
}

}  // namespace

Variable cross_entropy_losses(const Variable& logits, const Tensor& targets,
                              const CrossEntropyOptions& options) {
  return losses(logits, targets, options).each;
}

Variable cross_entropy(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  const auto [each, counted] = losses(logits, targets, options);
  return sum(each) * (counted == 0 ? 0 : 1 / static_cast<double>(counted));
}

}  // namespace heed
