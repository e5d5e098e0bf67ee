#include <heed/tensor/kernels/join.h>

#include <algorithm>
#include <numeric>

#include <heed/tensor/internal/dispatch.h>

namespace heed::kernels {

Tensor concat(std::span<const Tensor> parts, int64_t axis) {
  if (parts.empty()) raise<ValueError>("[concat] wanted one tensor or more, came none");
  axis = normalize_axis("concat", axis, parts[0].rank());
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    internal::expect_same_dtype("concat", parts[0], part);
    Shape fitting = part.shape();
    if (part.rank() == shape.rank()) fitting[axis] = shape[axis];
    if (fitting != shape)
      raise<ShapeError>("[concat] wanted shapes that agree but for axis {}, came {} and {}", axis,
                        parts[0].shape(), part.shape());
    shape[axis] += part.size(axis);
  }
  Tensor out = Tensor::empty(shape, parts[0].dtype());
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    out.slice(axis, begin, begin + part.size(axis)).copy_from(part);
    begin += part.size(axis);
  }
  return out;
}

Tensor stack(std::span<const Tensor> parts, int64_t axis) {
  if (parts.empty()) raise<ValueError>("[stack] wanted one tensor or more, came none");
  std::vector<Tensor> rows;
  rows.reserve(parts.size());
  for (const Tensor& part : parts) {
    if (part.shape() != parts[0].shape())
      raise<ShapeError>("[stack] wanted tensors of one shape, came {} and {}", parts[0].shape(),
                        part.shape());
    rows.push_back(part.unsqueeze(axis));
  }
  return concat(rows, axis);
}

std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int64_t axis) {
  axis = normalize_axis("split", axis, x.rank());
  const bool negative = std::ranges::any_of(sizes, [](int64_t size) { return size < 0; });
  if (negative || std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != x.size(axis))
    raise<ShapeError>("[split] wanted sizes that add up to axis {} of {}, came {}", axis, x.shape(),
                      Dims(sizes));
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(x.slice(axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

std::vector<Tensor> unstack(const Tensor& x, int64_t axis) {
  axis = normalize_axis("unstack", axis, x.rank());
  std::vector<Tensor> rows;
  rows.reserve(static_cast<size_t>(x.size(axis)));
  for (int64_t i = 0; i < x.size(axis); ++i) rows.push_back(x.select(axis, i));
  return rows;
}

}  // namespace heed::kernels
