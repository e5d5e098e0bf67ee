#pragma once

#include <heed/autograd/variable.h>

/// Elementwise functions of one argument.
namespace heed {

Variable exp(const Variable& x);
Variable log(const Variable& x);
Variable sqrt(const Variable& x);
Variable rsqrt(const Variable& x);  ///< 1 / sqrt(x)
Variable abs(const Variable& x);    ///< the derivative at 0 is 0
Variable sin(const Variable& x);
Variable cos(const Variable& x);
Variable erf(const Variable& x);  ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Variable tanh(const Variable& x);
Variable sigmoid(const Variable& x);  ///< 1 / (1 + exp(-x))
Variable relu(const Variable& x);     ///< max(x, 0); the derivative at 0 is 0
/// low where x < low, high where x > high, else x; the derivative is 1 from low to high, else 0.
Variable clamp(const Variable& x, double low, double high);

}  // namespace heed
