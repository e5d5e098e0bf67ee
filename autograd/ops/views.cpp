#include <heed/autograd/ops/views.h>

#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>

namespace heed {
namespace {

/// Zeros of `shape` but for the slice, which is x: the adjoint of slice.
Variable slice_into(const Variable& x, const Shape& shape, int64_t axis, int64_t begin, int64_t end,
                    int64_t step) {
  Tensor wide = zeros(shape, x.dtype());
  wide.slice(axis, begin, end, step).copy_from(x.data());
  return record("slice_into", std::move(wide), {&x}, [=](Backward& back) {
    back.give(0, [&] { return slice(back.grad(), axis, begin, end, step); });
  });
}

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record("reshape", x.data().reshape(shape), {&x}, [before = x.shape()](Backward& back) {
    back.give(0, [&] { return reshape(back.grad(), before); });
  });
}

Variable transpose(const Variable& x, int64_t a, int64_t b) {
  return record("transpose", x.data().transpose(a, b), {&x},
                [a, b](Backward& back) { back.give(0, [&] { return transpose(back.grad(), a, b); }); });
}

Variable permute(const Variable& x, std::span<const int64_t> axes) {
  Dims inverse = Dims::filled(x.rank(), 0);
  Tensor y = x.data().permute(axes);
  for (size_t i = 0; i < axes.size(); ++i)
    inverse[normalize_axis("permute", axes[i], x.rank())] = static_cast<int64_t>(i);
  return record("permute", std::move(y), {&x}, [inverse](Backward& back) {
    back.give(0, [&] { return permute(back.grad(), std::span(inverse.begin(), inverse.end())); });
  });
}

Variable expand(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record("expand", x.data().expand(shape), {&x}, [before = x.shape()](Backward& back) {
    back.give(0, [&] { return sum_to(back.grad(), before); });
  });
}

Variable slice(const Variable& x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return record("slice", x.data().slice(axis, begin, end, step), {&x},
                [=, shape = x.shape()](Backward& back) {
                  back.give(0, [&] { return slice_into(back.grad(), shape, axis, begin, end, step); });
                });
}

Variable select(const Variable& x, int64_t axis, int64_t index) {
  axis = normalize_axis("select", axis, x.rank());
  return record("select", x.data().select(axis, index), {&x}, [=, shape = x.shape()](Backward& back) {
    const int64_t begin = index < 0 ? index + shape[axis] : index;
    back.give(0, [&] { return slice_into(unsqueeze(back.grad(), axis), shape, axis, begin, begin + 1, 1); });
  });
}

Variable squeeze(const Variable& x, int64_t axis) {
  return record("squeeze", x.data().squeeze(axis), {&x}, [before = x.shape()](Backward& back) {
    back.give(0, [&] { return reshape(back.grad(), before); });
  });
}

Variable unsqueeze(const Variable& x, int64_t axis) {
  return record("unsqueeze", x.data().unsqueeze(axis), {&x}, [before = x.shape()](Backward& back) {
    back.give(0, [&] { return reshape(back.grad(), before); });
  });
}

}  // namespace heed
