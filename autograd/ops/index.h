#pragma once

#include <heed/autograd/variable.h>

/// Reading and writing by index, with the gradients of what is read and written; indices are i64 and counted
/// from 0.
namespace heed {

/// out[..., i, ...] = x[..., index[..., i, ...], ...] along an axis; index has x's rank, and its other sizes
/// are at most x's. The result has the index's shape. An element that is read several times gets the sum of
/// the gradients.
Variable gather(const Variable& x, int64_t axis, const Tensor& index);

/// The adjoint of gather: zeros of `shape`, to which each element of `source`, of the index's shape, is added
/// at the place that gather would read.
Variable scatter_add(const Shape& shape, int64_t axis, const Tensor& index, const Variable& source);

/// The slices ids[0], ids[1], ... along an axis: x (..., size, ...), ids (count) -> (..., count, ...).
Variable index_select(const Variable& x, int64_t axis, const Tensor& ids);

/// The adjoint of index_select: zeros of `shape`, to whose slices ids[0], ids[1], ... along an axis those of
/// `source` are added.
Variable index_add(const Shape& shape, int64_t axis, const Tensor& ids, const Variable& source);

}  // namespace heed
