#include <heed/autograd/ops/reduce.h>

#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed {

Variable sum(const Variable& x, const Dims& axes, bool keep_axes) {
  return record("sum", kernels::sum(x.data(), axes, keep_axes), {&x},
                [shape = x.shape(), kept = reduced_shape("sum", x.shape(), axes, true)](Backward& back) {
                  back.give(0, [&] { return expand(reshape(back.grad(), kept), shape); });
                });
}

Variable mean(const Variable& x, const Dims& axes, bool keep_axes) {
  Tensor y = kernels::mean(x.data(), axes, keep_axes);
  const double share = x.numel() == 0 ? 0 : static_cast<double>(y.numel()) / static_cast<double>(x.numel());
  return record(
      "mean", std::move(y), {&x},
      [shape = x.shape(), kept = reduced_shape("mean", x.shape(), axes, true), share](Backward& back) {
        back.give(0, [&] { return expand(reshape(back.grad() * share, kept), shape); });
      });
}

Variable sum_to(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record("sum_to", kernels::sum_to(x.data(), shape), {&x}, [wide = x.shape()](Backward& back) {
    back.give(0, [&] { return expand(back.grad(), wide); });
  });
}

}  // namespace heed
