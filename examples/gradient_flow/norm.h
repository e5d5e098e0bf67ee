#pragma once

#include "gradient_flow/findings.h"

/// Pre-norm against post-norm: how large the gradient is before any training. Xiong et al., "On layer
/// normalization in the transformer architecture" (2020): in the last feed-forward layer it does not depend
/// on the depth with post-norm, and goes like 1 / sqrt(layers) with pre-norm, for it is divided by the size
/// of the residual stream before the final norm, to which each layer adds its part.
namespace heed::gradient_flow {

struct NormOptions {
  std::vector<int64_t> layers = {2, 4, 8, 16};  ///< of the encoder and of the decoder, rising
  int64_t width = 64;
  int64_t batch = 16;  ///< pairs of the embedded corpus
  int64_t seeds = 20;  ///< over how many first weights the mean is taken
  uint64_t seed = 0;
};

/// Means over the seeds. The gradients are those of feed_forward.outer.weight in the decoder.
struct NormResult {
  struct Depth {
    double layers = 0;
    double post = 0, pre = 0;  ///< |gradient| in the last layer
    double stream = 0;         ///< pre-norm: the root mean square of what goes into the final norm
  };
  std::vector<Depth> depths;
  std::vector<double> post_by_layer, pre_by_layer;  ///< |gradient| in each layer of the deepest model
  double post_power = 0, pre_power = 0;             ///< p of gradient = c layers^p
  double stream_power = 0;                          ///< p of stream = c layers^p
};

NormResult measure_norm(const NormOptions& options);
Findings findings_of(const NormResult& result);

}  // namespace heed::gradient_flow
