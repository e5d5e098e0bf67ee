#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/mask.h>

namespace heed::nn {

/// Which keys a query may see; true means "may be seen". `Mask::valid_lengths(lengths) &
/// Mask::causal_order()`.
using kernels::Mask;

/// x (batch, keys, width) with zeros in the places that none of the queries may see, where x has anything in
/// it that is not finite; else x itself, for a weight of 0 makes nothing of what is finite. Whatever stands
/// in padding, a layer that begins with this lets nothing of it through, neither to its result nor to the
/// gradients of its parameters.
Variable without_hidden(const Variable& x, const Mask& mask, int64_t queries);

}  // namespace heed::nn
