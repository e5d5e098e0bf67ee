#pragma once

#include <span>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// Joins tensors along an axis; all other sizes and the dtype are the same. ValueError for none.
Tensor concat(std::span<const Tensor> parts, int64_t axis);
/// Joins tensors of one shape along a new axis.
Tensor stack(std::span<const Tensor> parts, int64_t axis);
/// Views of these sizes, one after the other along an axis; ShapeError unless they add up.
std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int64_t axis);
/// A view of each slice, without the axis.
std::vector<Tensor> unstack(const Tensor& x, int64_t axis);

}  // namespace heed::kernels
