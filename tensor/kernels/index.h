#pragma once

#include <heed/tensor/tensor.h>

/// Reading and writing by index. Indices are i64 and counted from 0; one that is out of range is an
/// IndexError that names it and the size, before anything is written. What is read by index has
/// any dtype; what is added up is f32, f64 or bf16, and bf16 is added up as f32 and rounded once.
namespace heed::kernels {

/// out[..., i, ...] = x[..., index[..., i, ...], ...] along an axis; index has x's rank, and its other sizes
/// are at most x's. The result has the index's shape.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);

/// The adjoint of gather: zeros of `shape`, to which each element of `source` is added at the place that
/// gather would read. Elements for one place are added in their order, for any number of threads.
Tensor scatter_add(const Shape& shape, int64_t axis, const Tensor& index, const Tensor& source);

/// The slices ids[0], ids[1], ... along an axis; ids: (count).
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& ids);

/// The adjoint of index_select: zeros of `shape`, to whose slices ids[0], ids[1], ... along an axis those of
/// `source` are added, in their order for any number of threads.
Tensor index_add(const Shape& shape, int64_t axis, const Tensor& ids, const Tensor& source);

/// 1 where the class is the id, else 0: ids (...) -> (..., classes).
Tensor one_hot(const Tensor& ids, int64_t classes, DType dtype = DType::f32);

}  // namespace heed::kernels
