#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <heed/tensor/error.h>

namespace heed {

/// The largest number of axes that a tensor can have.
inline constexpr int64_t kMaxRank = 8;

/// A short list of numbers, one per axis, held in place: a shape, or the strides that belong to one.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values);
  /// `rank` axes that all hold `value`.
  static Dims filled(int64_t rank, int64_t value);

  int64_t rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int64_t axis) const { return values_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int64_t axis) { return values_[static_cast<size_t>(axis)]; }
  int64_t front() const { return values_[0]; }
  int64_t back() const { return values_[static_cast<size_t>(rank_ - 1)]; }

  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }

  void push_back(int64_t value) { insert(rank_, value); }
  void insert(int64_t axis, int64_t value);
  void erase(int64_t axis);

  bool operator==(const Dims& other) const;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int64_t rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// The number of elements: the product of the sizes, 1 for a scalar. Throws ShapeError when a size is
/// negative or the product does not fit in 63 bits.
int64_t element_count(const Shape& shape);

/// Row-major strides in elements: the last axis is next to itself in memory.
Strides contiguous_strides(const Shape& shape);

/// The shape that both broadcast to (NumPy's rule), or ShapeError naming the op and both shapes.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// True if a tensor of shape `from` can be expanded to `to`.
bool expandable(const Shape& from, const Shape& to);

/// `axis` counted from the end when negative; IndexError when it is outside [-rank, rank).
int64_t normalize_axis(const char* op, int64_t axis, int64_t rank);

/// What is left of a shape when `axes` (all when empty) are reduced: without them, or with 1 in their places.
/// Names the op in an IndexError for an axis that is not there and in a ShapeError for one that comes twice.
Shape reduced_shape(const char* op, const Shape& shape, const Dims& axes, bool keep_axes);

/// "(2, 3)", "(5,)", "()".
std::string to_string(const Dims& dims);

}  // namespace heed

template <>
struct fmt::formatter<heed::Dims> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const heed::Dims& dims, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "{}", heed::to_string(dims));
  }
};
