#pragma once

#include <heed/autograd/variable.h>

/// The same numbers under another shape. No numbers are copied unless a reshape must.
namespace heed {

Variable reshape(const Variable& x, const Shape& shape);
Variable transpose(const Variable& x, int64_t a, int64_t b);
Variable permute(const Variable& x, std::span<const int64_t> axes);
Variable expand(const Variable& x, const Shape& shape);
Variable slice(const Variable& x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
Variable select(const Variable& x, int64_t axis, int64_t index);
Variable squeeze(const Variable& x, int64_t axis);
Variable unsqueeze(const Variable& x, int64_t axis);

}  // namespace heed
