#include <heed/nn/encoder_decoder.h>

#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/views.h>

namespace heed::nn {

Tensor kept_weights(const Variable& weights) {
  if (!weights.defined())
    raise<ValueError>(
        "[Decoding::attention] wanted a decoding that keeps weights and has taken a step, came one without");
  return weights.data();
}

Variable at_places(const Variable& x, const Tensor& places) {
  if (!places.defined()) return x;
  return index_select(x.reshape({x.size(0) * x.size(1), x.size(2)}), 0, places);
}

}  // namespace heed::nn
