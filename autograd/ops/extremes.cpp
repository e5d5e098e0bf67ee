#include <heed/autograd/ops/extremes.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/comparison.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed {
namespace {

/// g shared equally among the elements of x that attain the extreme y of their set; g and y have size 1 along
/// `axes`.
Variable shared_out(const Variable& g, const Tensor& x, const Tensor& y, const Dims& axes) {
  const Tensor chosen = kernels::attains(x, y);
  const Variable sharers = kernels::sum(chosen.to(x.dtype()), axes, true);
  return where(chosen, g / sharers, scalar(0, x.dtype()));
}

Variable record_extreme(const char* name, const Variable& x, const Tensor& y, const Dims& axes) {
  const Shape kept = reduced_shape(name, x.shape(), axes, true);
  return record(name, y, {&x}, [axes, kept, x = Saved(x), y = SavedOutput(y)](Backward& back) {
    back.give(0, [&] {
      return shared_out(reshape(back.grad(), kept), back.value(x).data(), back.value(y).data().reshape(kept),
                        axes);
    });
  });
}

}  // namespace

Variable max(const Variable& x, const Dims& axes, bool keep_axes) {
  return record_extreme("max", x, kernels::max(x.data(), axes, keep_axes), axes);
}

Variable min(const Variable& x, const Dims& axes, bool keep_axes) {
  return record_extreme("min", x, kernels::min(x.data(), axes, keep_axes), axes);
}

}  // namespace heed
