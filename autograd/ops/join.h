#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// Joins along an axis; all other sizes are the same.
Variable concat(std::span<const Variable> parts, int64_t axis);
Variable concat(std::initializer_list<Variable> parts, int64_t axis);
/// Joins variables of one shape along a new axis.
Variable stack(std::span<const Variable> parts, int64_t axis);
/// Parts of these sizes, one after the other along an axis.
std::vector<Variable> split(const Variable& x, std::span<const int64_t> sizes, int64_t axis);
/// Every slice along an axis, without the axis.
std::vector<Variable> unstack(const Variable& x, int64_t axis);

}  // namespace heed
