#include <heed/autograd/ops/softmax.h>

#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/softmax.h>

namespace heed {
namespace {

/// dx = y (g - sum(g y)), where y is a softmax along `axis`; differentiable in g and y.
Variable softmax_grad(Backward& back, const SavedOutput& saved, int64_t axis) {
  const Variable y = back.value(saved);
  const Variable& g = back.grad();
  if (!back.create_graph()) return kernels::softmax_backward(g.data(), y.data(), axis);
  const auto slope = [&](const Variable& seen) { return y * (seen - sum(seen * y, {axis}, true)); };
  if (kernels::all_finite(g.data()) && kernels::all_finite(y.data())) return slope(g);
  const Tensor unweighted = kernels::eq(y.data(), scalar(0, y.dtype()));
  return masked_fill(slope(masked_fill(g, unweighted, 0)), unweighted, 0);
}

}  // namespace

Variable softmax(const Variable& x, int64_t axis) {
  Tensor y = kernels::softmax(x.data(), axis);
  return record("softmax", y, {&x}, [axis, y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] { return softmax_grad(back, y, axis); });
  });
}

Variable log_softmax(const Variable& x, int64_t axis) {
  Tensor y = kernels::log_softmax(x.data(), axis);
  return record("log_softmax", y, {&x}, [axis, saved = SavedOutput(y)](Backward& back) {
    back.give(0, [&]() -> Variable {
      const Variable l = back.value(saved);
      if (!back.create_graph()) return kernels::log_softmax_backward(back.grad().data(), l.data(), axis);
      return back.grad() - exp(l) * sum(back.grad(), {axis}, true);
    });
  });
}

Variable masked_softmax(const Variable& scores, const kernels::Mask& mask) {
  Tensor y = kernels::masked_softmax(scores.data(), mask);
  return record("masked_softmax", y, {&scores}, [y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] { return softmax_grad(back, y, -1); });
  });
}

}  // namespace heed
