#include <heed/autograd/ops/sort.h>

#include <heed/autograd/ops/index.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/sort.h>

namespace heed {
namespace {

/// The values as what gather would read from x: their gradient goes back by scatter_add.
Sorted record_sorted(const char* name, const Variable& x, int64_t axis, kernels::Sorted sorted) {
  return {record(name, std::move(sorted.values), {&x},
                 [axis, shape = x.shape(), indices = SavedTensor(sorted.indices)](Backward& back) {
                   back.give(0, [&] { return scatter_add(shape, axis, back.value(indices), back.grad()); });
                 }),
          sorted.indices};
}

Variable reversed_cumulative_sum(const Variable& x, int64_t axis) {
  return record("reversed_cumulative_sum", kernels::reversed_cumulative_sum(x.data(), axis), {&x},
                [axis](Backward& back) { back.give(0, [&] { return cumulative_sum(back.grad(), axis); }); });
}

}  // namespace

Sorted sort(const Variable& x, int64_t axis, bool descending) {
  return record_sorted("sort", x, axis, kernels::sort(x.data(), axis, descending));
}

Sorted top_k(const Variable& x, int64_t axis, int64_t k) {
  return record_sorted("top_k", x, axis, kernels::top_k(x.data(), axis, k));
}

Variable cumulative_sum(const Variable& x, int64_t axis) {
  return record("cumulative_sum", kernels::cumulative_sum(x.data(), axis), {&x}, [axis](Backward& back) {
    back.give(0, [&] { return reversed_cumulative_sum(back.grad(), axis); });
  });
}

}  // namespace heed
