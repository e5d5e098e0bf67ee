#include <heed/autograd/ops/logsumexp.h>

#include <limits>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/logsumexp.h>

namespace heed {
namespace {

/// exp(x - y), the softmax: 0 also where x and y are -infinity, whose difference is NaN.
Variable weights(const Variable& x, const Variable& y) {
  const Tensor nothing = kernels::eq(y.data(), scalar(-std::numeric_limits<double>::infinity(), y.dtype()));
  return exp(x - masked_fill(y, nothing, 0));
}

}  // namespace

Variable logsumexp(const Variable& x, const Dims& axes, bool keep_axes) {
  Tensor y = kernels::logsumexp(x.data(), axes, keep_axes);
  const Shape kept = reduced_shape("logsumexp", x.shape(), axes, true);
  return record("logsumexp", y, {&x}, [kept, x = Saved(x), y = SavedOutput(y)](Backward& back) {
    back.give(0, [&]() -> Variable {
      const Variable in = back.value(x), grad = reshape(back.grad(), kept),
                     total = reshape(back.value(y), kept);
      if (!back.create_graph()) return kernels::logsumexp_backward(grad.data(), in.data(), total.data());
      return grad * weights(in, total);
    });
  });
}

}  // namespace heed
