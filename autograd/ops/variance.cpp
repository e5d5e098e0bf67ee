#include <heed/autograd/ops/variance.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>

namespace heed {
namespace {

/// x - mean(x); centered once more, because in f32 a large mean is itself rounded.
Variable centered(const Variable& x, const Dims& axes) {
  const Variable distance = x - mean(x, axes, true);
  return distance - mean(distance, axes, true);
}

}  // namespace

Variable var(const Variable& x, const Dims& axes, const VarianceOptions& options) {
  Tensor y = kernels::var(x.data(), axes, options);
  // x may be empty, and then so are y and the gradient
  const int64_t count = y.numel() == 0 ? 0 : x.numel() / y.numel();
  const double slope = count == 0 ? 0 : 2 / static_cast<double>(count - options.correction);
  return record("var", std::move(y), {&x}, [axes, slope, x = Saved(x)](Backward& back) {
    back.give(0, [&] {
      const Variable at = back.value(x);
      const Variable g = reshape(back.grad() * slope, reduced_shape("var", at.shape(), axes, true));
      return g * centered(at, axes);
    });
  });
}

}  // namespace heed
