#include <heed/tensor/shape.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace heed {

Dims::Dims(std::span<const int64_t> values) : rank_(static_cast<int64_t>(values.size())) {
  if (rank_ > kMaxRank) raise<ShapeError>("[shape] wanted at most {} axes, came {}", kMaxRank, rank_);
  std::copy(values.begin(), values.end(), values_.begin());
}

Dims Dims::filled(int64_t rank, int64_t value) {
  Dims dims;
  for (int64_t axis = 0; axis < rank; ++axis) dims.push_back(value);
  return dims;
}

void Dims::insert(int64_t axis, int64_t value) {
  if (rank_ == kMaxRank) raise<ShapeError>("[shape] wanted at most {} axes, came one more", kMaxRank);
  std::copy_backward(begin() + axis, end(), values_.begin() + rank_ + 1);
  values_[static_cast<size_t>(axis)] = value;
  ++rank_;
}

void Dims::erase(int64_t axis) {
  std::copy(begin() + axis + 1, end(), values_.begin() + axis);
  --rank_;
}

bool Dims::operator==(const Dims& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int64_t element_count(const Shape& shape) {
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }))
    raise<ShapeError>("[shape] wanted sizes of 0 or more, came {}", shape);
  // A zero anywhere makes the product zero, however large the other sizes are.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t count = 1;
  for (int64_t size : shape) {
    if (count > std::numeric_limits<int64_t>::max() / size)
      raise<ShapeError>("[shape] wanted fewer than 2^63 elements, came {}", shape);
    count *= size;
  }
  return count;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Dims::filled(shape.rank(), 1);
  // Unsigned, because the sizes beside a 0 may have any product; the strides of no elements are not followed.
  for (int64_t axis = shape.rank() - 2; axis >= 0; --axis)
    strides[axis] = static_cast<int64_t>(static_cast<uint64_t>(strides[axis + 1]) *
                                         static_cast<uint64_t>(std::max<int64_t>(shape[axis + 1], 1)));
  return strides;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  Shape result = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  const int64_t lead = result.rank() - shorter.rank();
  for (int64_t axis = 0; axis < shorter.rank(); ++axis) {
    int64_t& size = result[lead + axis];
    if (size == shorter[axis] || shorter[axis] == 1) continue;
    if (size != 1) raise<ShapeError>("[{}] shapes do not broadcast: {} and {}", op, a, b);
    size = shorter[axis];
  }
  return result;
}

bool expandable(const Shape& from, const Shape& to) {
  const int64_t lead = to.rank() - from.rank();
  if (lead < 0) return false;
  for (int64_t axis = 0; axis < from.rank(); ++axis)
    if (from[axis] != 1 && from[axis] != to[lead + axis]) return false;
  return true;
}

int64_t normalize_axis(const char* op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    raise<IndexError>("[{}] wanted an axis in [{}, {}), came {}", op, -rank, rank, axis);
  return axis < 0 ? axis + rank : axis;
}

Shape reduced_shape(const char* op, const Shape& shape, const Dims& axes, bool keep_axes) {
  std::array<bool, kMaxRank> reduced{};
  for (int64_t entry : axes) {
    bool& mark = reduced[static_cast<size_t>(normalize_axis(op, entry, shape.rank()))];
    if (std::exchange(mark, true)) raise<ShapeError>("[{}] wanted every axis once, came {}", op, axes);
  }
  if (axes.empty()) reduced.fill(true);
  Shape left;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (!reduced[static_cast<size_t>(axis)])
      left.push_back(shape[axis]);
    else if (keep_axes)
      left.push_back(1);
  }
  return left;
}

std::string to_string(const Dims& dims) {
  std::string text = "(";
  for (int64_t axis = 0; axis < dims.rank(); ++axis)
    text += fmt::format("{}{}", axis == 0 ? "" : ", ", dims[axis]);
  return text + (dims.rank() == 1 ? ",)" : ")");
}

}  // namespace heed
