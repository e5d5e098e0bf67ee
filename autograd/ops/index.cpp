#include <heed/autograd/ops/index.h>

#include <heed/autograd/record.h>
#include <heed/tensor/kernels/index.h>

namespace heed {

Variable gather(const Variable& x, int64_t axis, const Tensor& index) {
  return record("gather", kernels::gather(x.data(), axis, index), {&x},
                [axis, shape = x.shape(), index = SavedTensor(index)](Backward& back) {
                  back.give(0, [&] { return scatter_add(shape, axis, back.value(index), back.grad()); });
                });
}

Variable scatter_add(const Shape& shape, int64_t axis, const Tensor& index, const Variable& source) {
  return record("scatter_add", kernels::scatter_add(shape, axis, index, source.data()), {&source},
                [axis, index = SavedTensor(index)](Backward& back) {
                  back.give(0, [&] { return gather(back.grad(), axis, back.value(index)); });
                });
}

Variable index_select(const Variable& x, int64_t axis, const Tensor& ids) {
  return record("index_select", kernels::index_select(x.data(), axis, ids), {&x},
                [axis, shape = x.shape(), ids = SavedTensor(ids)](Backward& back) {
                  back.give(0, [&] { return index_add(shape, axis, back.value(ids), back.grad()); });
                });
}

Variable index_add(const Shape& shape, int64_t axis, const Tensor& ids, const Variable& source) {
  return record("index_add", kernels::index_add(shape, axis, ids, source.data()), {&source},
                [axis, ids = SavedTensor(ids)](Backward& back) {
                  back.give(0, [&] { return index_select(back.grad(), axis, back.value(ids)); });
                });
}

}  // namespace heed
