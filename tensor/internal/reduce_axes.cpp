#include <heed/tensor/internal/reduce_axes.h>

#include <algorithm>

namespace heed::internal {
namespace {

/// A contiguous copy with the axes whose sizes differ from those of `left` last.
Tensor with_reduced_last(const Tensor& x, const Shape& left) {
  Dims order;
  for (const bool reduced : {false, true})
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if ((left[axis] != x.shape()[axis]) == reduced) order.push_back(axis);
  return x.permute(std::span(order.begin(), order.end())).contiguous();
}

}  // namespace

Blocks arrange(const Tensor& x, const Dims& axes) {
  const Shape left = reduced_shape("arrange", x.shape(), axes, true);
  // An axis of size 1 is the same reduced and kept, and parts no neighbours.
  const auto is_reduced = [&](int64_t axis) { return left[axis] != x.shape()[axis]; };
  Blocks blocks;
  int64_t first = x.rank(), last = -1;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (!is_reduced(axis)) continue;
    blocks.count *= x.shape()[axis];
    first = std::min(first, axis);
    last = axis;
  }
  for (int64_t axis = first; axis <= last; ++axis) {
    if (is_reduced(axis) || x.shape()[axis] == 1) continue;
    blocks.outer = element_count(left);
    blocks.values = with_reduced_last(x, left);
    return blocks;
  }
  for (int64_t axis = 0; axis < first; ++axis) blocks.outer *= x.shape()[axis];
  for (int64_t axis = std::max(first, last + 1); axis < x.rank(); ++axis) blocks.inner *= x.shape()[axis];
  blocks.values = x.contiguous();
  return blocks;
}

void expect_elements(const char* op, const Tensor& x, const Dims& axes, const Tensor& out) {
  if (x.numel() == 0 && out.numel() > 0)
    raise<ValueError>("[{}] what is reduced has no elements: shape {}, axes {}", op, x.shape(), axes);
}

}  // namespace heed::internal
