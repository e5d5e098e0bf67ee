#include <heed/nn/loss.h>

#include <algorithm>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/unary.h>

namespace heed::nn {
namespace {

/// The sum over a count, which is 0 only where there is nothing to sum.
Variable over(const Variable& sum, int64_t count) {
  return sum / static_cast<double>(std::max<int64_t>(count, 1));
}

void expect_same_shape(const char* name, const Variable& x, const Shape& target) {
  if (x.shape() != target)
    raise<ShapeError>("[{}] wanted a target of x's shape {}, came {}", name, x.shape(), target);
}

}  // namespace

Variable mse_loss(const Variable& x, const Variable& target) {
  expect_same_shape("mse_loss", x, target.shape());
  return over((x - target).pow(2).sum(), x.numel());
}

Variable nll_loss(const Variable& x, const Tensor& targets, const NLLOptions& options) {
  const bool fits = targets.dtype() == DType::i64 && x.rank() == targets.rank() + 1 &&
                    std::ranges::equal(targets.shape(), std::span(x.shape().begin(), x.shape().end() - 1));
  if (!fits)
    raise<ShapeError>("[nll_loss] wanted x (..., classes) and targets i64 (...), came {} and {}", x.shape(),
                      describe(targets));
  Tensor classes = targets.clone(), ignored = zeros(targets.shape(), DType::boolean);
  int64_t count = 0;
  const std::span<int64_t> each = classes.mutable_span<int64_t>();
  const std::span<bool> is_ignored = ignored.mutable_span<bool>();
  for (size_t i = 0; i < each.size(); ++i) {
    is_ignored[i] = each[i] == options.ignore_index;
    if (is_ignored[i])
      each[i] = 0;  // any class: what is read there is not used
    else if (each[i] < 0 || each[i] >= x.size(-1))
      raise<IndexError>("[nll_loss] target {} is outside the {} classes", each[i], x.size(-1));
    else
      ++count;
  }
  if (count == 0) return masked_fill(x, ones({1}, DType::boolean), 0).sum();
  const Variable chosen = gather(x, -1, classes.unsqueeze(-1)).squeeze(-1);
  return over(-masked_fill(chosen, ignored, 0).sum(), count);
}

Variable kl_div(const Variable& x, const Tensor& target) {
  expect_same_shape("kl_div", x, target.shape());
  if (x.rank() < 1) raise<ShapeError>("[kl_div] wanted x (batch, ...), came {}", x.shape());
  // An impossible event may have the log-probability -infinity, which times 0 would be NaN.
  const Tensor impossible = kernels::eq(target, zeros_like(target));
  const Variable logs = masked_fill(kernels::log(target), impossible, 0);
  return over((target * (logs - masked_fill(x, impossible, 0))).sum(), x.size(0));
}

}  // namespace heed::nn
