#pragma once

#include <algorithm>
#include <vector>

#include "tests/tensor/generators.h"
#include "tests/tensor/helpers.h"

/// What the tests of the reductions share.
namespace heed::test {

/// Some of a shape's axes, each at most once, counted from either end.
inline Dims any_axes(const Shape& shape) {
  Dims axes;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (any_between(0, 1) == 0) axes.push_back(any_between(0, 1) == 0 ? axis : axis - shape.rank());
  return axes;
}

/// True if `axis` is one of those that are reduced.
inline bool is_reduced(int64_t axis, const Dims& axes, int64_t rank) {
  return axes.empty() || std::ranges::any_of(axes, [&](int64_t a) { return a == axis || a + rank == axis; });
}

/// f of the list of elements that come together in each place of the result, of x's shape with 1 for every
/// reduced axis.
template <class F>
Tensor reduce_naively(const Tensor& x, const Dims& axes, F f) {
  Shape shape = x.shape();
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (is_reduced(axis, axes, x.rank())) shape[axis] = 1;
  const auto strides = contiguous_strides(shape);
  const auto place_of = [&](const std::vector<int64_t>& index) {
    int64_t place = 0;
    const auto within = broadcast_index(index, shape);
    for (int64_t axis = 0; axis < shape.rank(); ++axis)
      place += within[static_cast<size_t>(axis)] * strides[axis];
    return static_cast<size_t>(place);
  };
  std::vector<std::vector<double>> sets(static_cast<size_t>(element_count(shape)));
  for_each_index(x.shape(),
                 [&](const std::vector<int64_t>& index) { sets[place_of(index)].push_back(get(x, index)); });
  std::vector<double> values;
  for (const auto& set : sets) values.push_back(f(set));
  return from_values<double>(values, shape);
}

/// x's shape without the reduced axes.
inline Shape without_axes(const Tensor& x, const Dims& axes) {
  Shape shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!is_reduced(axis, axes, x.rank())) shape.push_back(x.shape()[axis]);
  return shape;
}

}  // namespace heed::test
