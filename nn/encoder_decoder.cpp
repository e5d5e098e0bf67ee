#include <heed/nn/encoder_decoder.h>

namespace heed::nn {

Tensor kept_weights(const Variable& weights) {
  if (!weights.defined())
    raise<ValueError>(
        "[Decoding::attention] wanted a decoding that keeps weights and has taken a step, came one without");
  return weights.data();
}

}  // namespace heed::nn
