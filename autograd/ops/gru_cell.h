#pragma once

#include <heed/autograd/variable.h>

namespace heed {

/// One step of a gated recurrent unit from the projections gx, gh (batch, 3 hidden; order r, z, n):
///   r = sigmoid(gx_r + gh_r), z = sigmoid(gx_z + gh_z), n = tanh(gx_n + r gh_n), h' = (1 - z) n + z h
Variable gru_cell(const Variable& gx, const Variable& gh, const Variable& h);

}  // namespace heed
