#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// The same numbers in another float type; the gradient comes back in x's own. DTypeError when a variable
/// that requires a gradient would become whole numbers or truth values.
Variable cast(const Variable& x, DType dtype);

}  // namespace heed
