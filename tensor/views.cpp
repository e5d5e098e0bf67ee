#include <algorithm>
#include <array>
#include <optional>

#include <heed/tensor/tensor.h>

namespace heed {
namespace {

/// The strides that give `to` over the same memory, if there are any: each axis of `to` must lie within
/// a run of axes of the source that are contiguous among themselves.
std::optional<Strides> strides_for(const Tensor& source, const Shape& to) {
  Shape from;
  Strides steps;
  for (int64_t axis = 0; axis < source.rank(); ++axis) {
    if (source.shape()[axis] == 1) continue;
    from.push_back(source.shape()[axis]);
    steps.push_back(source.strides()[axis]);
  }
  Strides result = Dims::filled(to.rank(), 1);
  int64_t axis = to.rank() - 1;
  for (int64_t run_end = from.rank() - 1; run_end >= 0;) {
    int64_t run_begin = run_end;
    int64_t run = from[run_end];
    while (run_begin > 0 && steps[run_begin - 1] == steps[run_begin] * from[run_begin])
      run *= from[--run_begin];
    int64_t stride = steps[run_end];
    int64_t left = run;
    for (; axis >= 0 && (left > 1 || to[axis] == 1); --axis) {
      if (left % to[axis] != 0) return std::nullopt;
      result[axis] = stride;
      stride *= to[axis];
      left /= to[axis];
    }
    if (left != 1) return std::nullopt;
    run_end = run_begin - 1;
  }
  return result;
}

Shape resolve(const Shape& wanted, const Tensor& source) {
  Shape shape = wanted;
  int64_t unknown = -1;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) continue;
    if (unknown >= 0) raise<ShapeError>("[reshape] wanted at most one size of -1, came {}", wanted);
    unknown = axis;
    shape[axis] = 1;
  }
  if (unknown >= 0) {
    const int64_t known = element_count(shape);
    shape[unknown] = known == 0 ? 0 : source.numel() / known;
  }
  if (element_count(shape) != source.numel())
    raise<ShapeError>("[reshape] sizes do not match: {} to {}", source.shape(), wanted);
  return shape;
}

}  // namespace

Tensor Tensor::slice(int64_t axis, int64_t begin, int64_t end, int64_t step) const {
  axis = normalize_axis("slice", axis, rank());
  const int64_t size = shape_[axis];
  if (begin < 0) begin += size;
  if (end < 0) end += size;
  if (begin < 0 || end > size || begin > end || step < 1)
    raise<IndexError>("[slice] wanted 0 <= begin <= end <= {} and a step of 1 or more, came [{}, {}) by {}",
                      size, begin, end, step);
  Shape shape = shape_;
  Strides strides = strides_;
  shape[axis] = begin == end ? 0 : (end - begin - 1) / step + 1;
  if (shape[axis] > 1) strides[axis] *= step;
  return view(shape, strides, offset_ + begin * strides_[axis]);
}

Tensor Tensor::select(int64_t axis, int64_t index) const {
  axis = normalize_axis("select", axis, rank());
  const int64_t size = shape_[axis];
  if (index < -size || index >= size)
    raise<IndexError>("[select] index {} is outside axis {} of shape {}", index, axis, shape_);
  Shape shape = shape_;
  Strides strides = strides_;
  shape.erase(axis);
  strides.erase(axis);
  return view(shape, strides, offset_ + (index < 0 ? index + size : index) * strides_[axis]);
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  a = normalize_axis("transpose", a, rank());
  b = normalize_axis("transpose", b, rank());
  Shape shape = shape_;
  Strides strides = strides_;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return view(shape, strides, offset_);
}

Tensor Tensor::permute(std::span<const int64_t> axes) const {
  const Dims wanted{axes};
  if (wanted.rank() != rank())
    raise<ShapeError>("[permute] wanted {} axes for shape {}, came {}", rank(), shape_, wanted);
  Shape shape;
  Strides strides;
  std::array<bool, kMaxRank> seen{};
  for (int64_t entry : wanted) {
    const int64_t axis = normalize_axis("permute", entry, rank());
    if (std::exchange(seen[static_cast<size_t>(axis)], true))
      raise<ShapeError>("[permute] wanted every axis once, came {}", wanted);
    shape.push_back(shape_[axis]);
    strides.push_back(strides_[axis]);
  }
  return view(shape, strides, offset_);
}

Tensor Tensor::permute(std::initializer_list<int64_t> axes) const {
  return permute(std::span(axes.begin(), axes.size()));
}

Tensor Tensor::expand(const Shape& shape) const {
  if (!expandable(shape_, shape)) raise<ShapeError>("[expand] shape {} does not expand to {}", shape_, shape);
  Strides strides = Dims::filled(shape.rank(), 0);
  const int64_t lead = shape.rank() - rank();
  for (int64_t axis = 0; axis < rank(); ++axis)
    if (shape_[axis] == shape[lead + axis]) strides[lead + axis] = strides_[axis];
  return view(shape, strides, offset_);
}

Tensor Tensor::squeeze(int64_t axis) const {
  axis = normalize_axis("squeeze", axis, rank());
  if (shape_[axis] != 1)
    raise<ShapeError>("[squeeze] wanted an axis of size 1, came axis {} of shape {}", axis, shape_);
  return select(axis, 0);
}

Tensor Tensor::unsqueeze(int64_t axis) const {
  axis = normalize_axis("unsqueeze", axis, rank() + 1);
  Shape shape = shape_;
  Strides strides = strides_;
  strides.insert(axis, axis < rank() ? shape_[axis] * strides_[axis] : 1);
  shape.insert(axis, 1);
  return view(shape, strides, offset_);
}

Tensor Tensor::reshape(const Shape& wanted) const {
  const Shape shape = resolve(wanted, *this);
  if (is_contiguous()) return view(shape, contiguous_strides(shape), offset_);
  if (const auto strides = strides_for(*this, shape)) return view(shape, *strides, offset_);
  return clone().reshape(shape);
}

}  // namespace heed
