#pragma once

#include <heed/tensor/kernels/mask.h>

namespace heed::nn {

/// Which keys a query may see; true means "may be seen". `Mask::valid_lengths(lengths) &
/// Mask::causal_order()`.
using kernels::Mask;

}  // namespace heed::nn
