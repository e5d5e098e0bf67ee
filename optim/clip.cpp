#include <heed/optim/clip.h>

#include <cmath>

#include <heed/optim/internal/parameters.h>
#include <heed/tensor/error.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::optim {
namespace {

void expect_limit(const char* op, double limit) {
  if (!(limit > 0)) raise<ValueError>("[{}] wanted a limit above 0, came {}", op, limit);
}

bool has_finite_norm(const Variable& parameter) {
  return !parameter.grad().defined() || std::isfinite(kernels::sum_of_squares(parameter.grad().data()));
}

}  // namespace

double clip_grad_norm(std::span<const Variable> parameters, double limit) {
  expect_limit("clip_grad_norm", limit);
  std::vector<Variable> clipped = internal::with_gradients(parameters);
  double squares = 0;
  for (const Variable& parameter : clipped) squares += kernels::sum_of_squares(parameter.grad().data());
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm) && norm > limit)
    for (Variable& parameter : clipped) internal::scale_gradient(parameter, limit / norm);
  return norm;
}

double clip_grad_norm(const NamedVariables& parameters, double limit, const ClipOptions& options) {
  std::vector<Variable> variables;
  for (const auto& [name, parameter] : parameters) variables.push_back(parameter);
  const double norm = clip_grad_norm(variables, limit);
  if (std::isfinite(norm) || !options.error_if_nonfinite) return norm;
  for (const auto& [name, parameter] : parameters)
    if (!has_finite_norm(parameter))
      raise<ValueError>("[clip_grad_norm] the gradients' norm is {}: first in \"{}\"", norm, name);
  raise<ValueError>("[clip_grad_norm] the gradients' norm is {}", norm);
}

void clip_grad_value(std::span<const Variable> parameters, double limit) {
  expect_limit("clip_grad_value", limit);
  for (Variable& parameter : internal::with_gradients(parameters)) internal::clamp_gradient(parameter, limit);
}

}  // namespace heed::optim
