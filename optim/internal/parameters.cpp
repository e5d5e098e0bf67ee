#include <heed/optim/internal/parameters.h>

#include <algorithm>

#include <heed/tensor/error.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/unary.h>

namespace heed::optim::internal {
namespace {

/// Replaces a gradient by in_place(numbers) if it is the parameter's alone, else by anew(numbers).
template <class InPlace, class Anew>
void change_gradient(Variable& parameter, InPlace in_place, Anew anew) {
  Variable grad = parameter.grad();
  parameter.zero_grad();
  const bool is_ours = grad.is_sole_handle() && grad.data().is_sole_owner() &&
                       !grad.data().overlaps_itself() && !grad.requires_grad();
  Tensor numbers = grad.data();
  if (is_ours)
    in_place(numbers);
  else
    grad = anew(numbers);
  parameter.set_grad(std::move(grad));
}

}  // namespace

NamedVariables distinct(const char* owner, const NamedVariables& parameters) {
  NamedVariables result;
  for (const auto& [name, value] : parameters) {
    const auto same = [&value = value](const auto& entry) { return entry.second.is_same(value); };
    const auto namesake = [&name = name](const auto& entry) { return entry.first == name; };
    if (std::ranges::any_of(result, same)) continue;
    if (std::ranges::any_of(result, namesake))
      raise<ValueError>("[{}] two parameters have the name \"{}\"", owner, name);
    result.emplace_back(name, value);
  }
  return result;
}

std::vector<Variable> with_gradients(std::span<const Variable> parameters) {
  std::vector<Variable> found;
  for (const Variable& parameter : parameters) {
    const bool seen = std::ranges::any_of(found, [&](const Variable& p) { return p.is_same(parameter); });
    if (!seen && parameter.grad().defined()) found.push_back(parameter);
  }
  return found;
}

void scale_gradient(Variable& parameter, double factor) {
  change_gradient(
      parameter, [=](Tensor& numbers) { kernels::scale_into(numbers, factor); },
      [=](const Tensor& numbers) { return kernels::scale(numbers, factor); });
}

void clamp_gradient(Variable& parameter, double limit) {
  change_gradient(
      parameter, [=](Tensor& numbers) { kernels::clamp(numbers, -limit, limit, &numbers); },
      [=](const Tensor& numbers) { return kernels::clamp(numbers, -limit, limit); });
}

}  // namespace heed::optim::internal
