#pragma once

#include <span>

#include <heed/autograd/named.h>

/// What all that works on lists of parameters needs.
namespace heed::optim::internal {

/// Each parameter once, under its first name. ValueError for one name of two parameters.
NamedVariables distinct(const char* owner, const NamedVariables& parameters);
/// Each of the parameters that have a gradient once, in order.
std::vector<Variable> with_gradients(std::span<const Variable> parameters);
/// Multiplies a gradient: in place, or another in its stead where this one is not the parameter's alone,
/// since two parameters of a sum may have been given the same.
void scale_gradient(Variable& parameter, double factor);
/// Puts each element of a gradient into [-limit, limit], in the same way.
void clamp_gradient(Variable& parameter, double limit);

}  // namespace heed::optim::internal
