#include <heed/optim/clip.h>

#include <algorithm>
#include <cmath>

#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::optim {
namespace {

/// The parameters that have a gradient, each once.
std::vector<Variable> with_gradients(std::span<const Variable> parameters) {
  std::vector<Variable> found;
  for (const Variable& parameter : parameters) {
    const bool seen = std::ranges::any_of(found, [&](const Variable& p) { return p.is_same(parameter); });
    if (!seen && parameter.grad().defined()) found.push_back(parameter);
  }
  return found;
}

/// Scales a gradient in place, or another in its stead where this one is not the parameter's alone: two
/// parameters of a sum may have been given the same.
void scale_gradient(Variable& parameter, double factor) {
  Variable grad = parameter.grad();
  parameter.zero_grad();
  const bool is_ours = grad.is_sole_handle() && grad.data().is_sole_owner() &&
                       !grad.data().overlaps_itself() && !grad.requires_grad();
  Tensor numbers = grad.data();
  if (is_ours)
    kernels::scale_into(numbers, factor);
  else
    grad = kernels::scale(numbers, factor);
  parameter.set_grad(std::move(grad));
}

}  // namespace

double clip_grad_norm(std::span<const Variable> parameters, double limit) {
  if (!(limit > 0)) raise<ValueError>("[clip_grad_norm] wanted a limit above 0, came {}", limit);
  std::vector<Variable> clipped = with_gradients(parameters);
  double squares = 0;
  for (const Variable& parameter : clipped) squares += kernels::sum_of_squares(parameter.grad().data());
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm) && norm > limit)
    for (Variable& parameter : clipped) scale_gradient(parameter, limit / norm);
  return norm;
}

}  // namespace heed::optim
