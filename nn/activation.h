#pragma once

#include <heed/autograd/ops/bias_activation.h>
#include <heed/nn/module.h>

namespace heed::nn {

/// heed::activate as a layer, without parameters. Behind a Linear it is LinearOptions::activation.
class Activation : public Layer<Activation> {
 public:
  explicit Activation(ActivationKind kind) : kind_(kind) {}
  Variable forward(const Variable& x) { return activate(x, kind_); }

 private:
  ActivationKind kind_;
};

}  // namespace heed::nn
