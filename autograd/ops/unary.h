#pragma once

#include <heed/autograd/variable.h>

/// Elementwise functions of one argument.
namespace heed {

Variable exp(const Variable& x);
Variable log(const Variable& x);
Variable sqrt(const Variable& x);
Variable tanh(const Variable& x);
Variable sigmoid(const Variable& x);  ///< 1 / (1 + exp(-x))
Variable relu(const Variable& x);     ///< max(x, 0); the derivative at 0 is 0

}  // namespace heed
