#include <heed/optim/clip.h>

#include <algorithm>
#include <cmath>

#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::optim {
namespace {

/// The gradients that are there, each once.
std::vector<Tensor> gradients_of(std::span<const Variable> parameters) {
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto before = parameters.first(i);
    const bool seen =
        std::ranges::any_of(before, [&](const Variable& p) { return p.is_same(parameters[i]); });
    const Variable grad = parameters[i].grad();
    if (!seen && grad.defined()) gradients.push_back(grad.data());
  }
  return gradients;
}

}  // namespace

double clip_grad_norm(std::span<const Variable> parameters, double limit) {
  if (!(limit > 0)) raise<ValueError>("[clip_grad_norm] wanted a limit above 0, came {}", limit);
  std::vector<Tensor> gradients = gradients_of(parameters);
  double squares = 0;
  for (const Tensor& grad : gradients) squares += kernels::sum_of_squares(grad);
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm) && norm > limit)
    for (Tensor& grad : gradients) kernels::scale_into(grad, limit / norm);
  return norm;
}

}  // namespace heed::optim
