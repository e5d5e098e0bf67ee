#pragma once

#include <heed/nn/module.h>

namespace heed::nn {

enum class ActivationKind { relu, gelu, tanh, sigmoid };

/// max(0, x), x Phi(x) with Phi the normal distribution, tanh(x), or 1 / (1 + exp(-x)), element by element.
Variable activate(const Variable& x, ActivationKind kind);

/// The same as a layer, without parameters.
class Activation : public Layer<Activation> {
 public:
  explicit Activation(ActivationKind kind) : kind_(kind) {}
  Variable forward(const Variable& x) { return activate(x, kind_); }

 private:
  ActivationKind kind_;
};

}  // namespace heed::nn
