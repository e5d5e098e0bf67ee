#include <heed/autograd/ops/dropout.h>
#include <heed/nn/dropout.h>

namespace heed::nn {

Dropout::Dropout(double p) : p_(p) {
  if (!(p >= 0 && p <= 1)) raise<ValueError>("[Dropout] wanted a probability in [0, 1], came {}", p);
}

Variable Dropout::forward(const Variable& x) { return dropout(x, active_p()); }

}  // namespace heed::nn
