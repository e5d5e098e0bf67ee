#include <heed/nn/activation.h>

#include <heed/autograd/ops/gelu.h>

namespace heed::nn {

Variable activate(const Variable& x, ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu: return x.relu();
    case ActivationKind::gelu: return gelu(x);
    case ActivationKind::tanh: return x.tanh();
    case ActivationKind::sigmoid: break;
  }
  return x.sigmoid();
}

}  // namespace heed::nn
