#pragma once

#include <optional>

#include <heed/autograd/variable.h>

namespace heed {

/// Rows of a table by their ids: table (rows, width), ids i64 (...) -> (..., width). The row `padding` gets
/// no gradient, however often its id occurs.
Variable embedding(const Variable& table, const Tensor& ids, std::optional<int64_t> padding = std::nullopt);

}  // namespace heed
