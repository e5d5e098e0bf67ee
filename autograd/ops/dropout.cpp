#include <heed/autograd/ops/dropout.h>

#include <heed/autograd/record.h>
#include <heed/tensor/kernels/dropout.h>

namespace heed {

Variable dropout_with_mask(const Variable& x, const Tensor& keep, double p) {
  return record("dropout", kernels::dropout(x.data(), keep, p), {&x},
                [keep = SavedTensor(keep), p](Backward& back) {
                  back.give(0, [&] { return dropout_with_mask(back.grad(), back.value(keep), p); });
                });
}

Variable dropout(const Variable& x, double p, Generator& generator) {
  if (p == 0) return x;
  return dropout_with_mask(x, kernels::dropout_mask(x.shape(), p, generator), p);
}

}  // namespace heed
