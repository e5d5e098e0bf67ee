#include <heed/autograd/ops/comparison.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>

namespace heed {

Variable where(const Tensor& condition, const Variable& a, const Variable& b) {
  return record("where", kernels::where(condition, a.data(), b.data()), {&a, &b},
                [condition = SavedTensor(condition), left = a.shape(), right = b.shape()](Backward& back) {
                  const Variable& g = back.grad();
                  const Tensor& chosen = back.value(condition);
                  const Variable none = scalar(0, g.dtype());
                  back.give(0, [&] { return sum_to(where(chosen, g, none), left); });
                  back.give(1, [&] { return sum_to(where(chosen, none, g), right); });
                });
}

}  // namespace heed
