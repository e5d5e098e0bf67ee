#include <heed/study/rollout.h>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/unary.h>

namespace heed::study {
namespace {

void expect_layers(const char* op, std::span<const Tensor> layers, const Tensor& like) {
  for (const Tensor& layer : layers)
    if (layer.rank() != 4 || layer.size(2) != layer.size(3) || layer.size(0) != like.size(0) ||
        layer.size(2) != like.size(2) || layer.dtype() != like.dtype())
      raise<ShapeError>("[{}] wanted (batch, heads, places, places) alike in all layers, came {} and {}", op,
                        describe(like), describe(layer));
}

Tensor identity_for(const Tensor& weights) { return eye(weights.size(2), weights.size(2), weights.dtype()); }

/// The product of f(layer), the last layer's on the left.
template <class F>
Tensor product(std::span<const Tensor> layers, F&& f) {
  Tensor result = f(0);
  for (size_t i = 1; i < layers.size(); ++i) result = kernels::matmul(f(i), result);
  return result;
}

}  // namespace

Tensor rollout(std::span<const Tensor> weights) {
  if (weights.empty()) raise<ValueError>("[rollout] wanted the weights of a layer or more, came none");
  expect_layers("rollout", weights, weights[0]);
  return product(weights, [&](size_t i) {
    const Tensor mixed = kernels::add(kernels::mean(weights[i], {1}), identity_for(weights[i]));
    return kernels::div(mixed, kernels::sum(mixed, {-1}, true));
  });
}

Tensor gradient_rollout(std::span<const Tensor> weights, std::span<const Tensor> gradients) {
  if (weights.empty() || weights.size() != gradients.size())
    raise<ValueError>("[gradient_rollout] wanted weights and gradients of a layer or more, came {} and {}",
                      weights.size(), gradients.size());
  expect_layers("gradient_rollout", weights, weights[0]);
  expect_layers("gradient_rollout", gradients, weights[0]);
  return product(weights, [&](size_t i) {
    const Tensor helpful = kernels::relu(kernels::neg(kernels::mul(weights[i], gradients[i])));
    return kernels::add(kernels::mean(helpful, {1}), identity_for(weights[i]));
  });
}

}  // namespace heed::study
