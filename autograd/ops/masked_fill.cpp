#include <heed/autograd/ops/masked_fill.h>

#include <cmath>

#include <heed/autograd/record.h>
#include <heed/tensor/kernels/masked_fill.h>

namespace heed {

Variable masked_fill(const Variable& x, const Tensor& mask, double value) {
  const AllowInfinity hidden(std::isinf(value));
  return record("masked_fill", kernels::masked_fill(x.data(), mask, value), {&x},
                [mask = SavedTensor(mask)](Backward& back) {
                  back.give(0, [&] { return masked_fill(back.grad(), back.value(mask), 0); });
                });
}

}  // namespace heed
