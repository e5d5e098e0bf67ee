#pragma once

#include <optional>

#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// Rows of a table by their ids: table (rows, width), ids i64 (...) -> (..., width). IndexError naming the
/// id and the number of rows, before anything is read.
Tensor embedding(const Tensor& table, const Tensor& ids);

/// The adjoint: adds each row of grad (..., width) to the row of a (rows, width) table of zeros that its id
/// names. Ids equal to `padding` are left out.
Tensor embedding_backward(const Tensor& grad, const Tensor& ids, int64_t rows,
                          std::optional<int64_t> padding);

}  // namespace heed::kernels
