#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/tensor.h>

/// Random shapes and layouts; to be called inside a property of rapidcheck.
namespace heed::test {

/// Uniform in [low, high]; in full from the first case on, where rapidcheck would begin with small ranges.
inline int64_t any_between(int64_t low, int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(low, high + 1));
}

inline Shape any_shape(int64_t most_axes = 4, int64_t largest = 5) {
  Shape shape;
  for (int64_t left = any_between(0, most_axes); left > 0; --left) shape.push_back(any_between(0, largest));
  return shape;
}

/// A shape that broadcasts to `shape`: leading axes may be missing, others may be 1.
inline Shape any_shape_below(const Shape& shape) {
  Shape result;
  for (int64_t axis = any_between(0, shape.rank()); axis < shape.rank(); ++axis)
    result.push_back(any_between(0, 2) == 0 ? 1 : shape[axis]);
  return result;
}

/// A tensor of this shape with numbers in [-2, 2) and a random layout: its axes lie in memory in any order,
/// with gaps, and now and then an axis is an expanded one.
inline Tensor any_tensor(const Shape& shape, DType dtype = DType::f64) {
  std::vector<int64_t> order(static_cast<size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(any_between(0, static_cast<int64_t>(i) - 1))]);
  Shape memory;
  std::vector<int64_t> begins, steps;
  for (const int64_t axis : order) {
    begins.push_back(any_between(0, 1));
    steps.push_back(any_between(1, 2));
    memory.push_back(begins.back() + shape[axis] * steps.back());
  }
  Generator generator(static_cast<uint64_t>(any_between(0, 1 << 30)));
  Tensor tensor = rand_uniform(memory, -2, 2, DType::f64, generator).to(dtype);
  Shape sizes;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const auto place = static_cast<size_t>(axis);
    tensor = tensor.slice(axis, begins[place], memory[axis], steps[place]);
    if (shape[order[place]] > 1 && any_between(0, 9) == 0) tensor = tensor.slice(axis, 0, 1);
    sizes.push_back(shape[order[place]]);
  }
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return tensor.expand(sizes).permute(back);
}

}  // namespace heed::test
