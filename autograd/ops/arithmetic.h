#pragma once

#include <heed/autograd/variable.h>

/// Elementwise arithmetic; shapes broadcast. The operators on Variable call these.
namespace heed {

Variable add(const Variable& a, const Variable& b);  ///< a + b
Variable sub(const Variable& a, const Variable& b);  ///< a - b
Variable mul(const Variable& a, const Variable& b);  ///< a * b
Variable div(const Variable& a, const Variable& b);  ///< a / b
/// a * factor + term with plain numbers.
Variable scale(const Variable& a, double factor, double term = 0);
/// a ^ exponent with a plain number; d = exponent * a ^ (exponent - 1).
Variable pow(const Variable& a, double exponent);

}  // namespace heed
