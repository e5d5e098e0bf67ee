#include <heed/tensor/kernels/masked_fill.h>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>

namespace heed::kernels {

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  if (mask.dtype() != DType::boolean || !expandable(mask.shape(), x.shape()))
    raise<ShapeError>("[masked_fill] wanted a bool mask that expands to {}, came {}", x.shape(),
                      describe(mask));
  return where(mask, scalar(value, x.dtype()), x);
}

}  // namespace heed::kernels
