#include <heed/nn/norm.h>

#include <heed/autograd/ops/layer_norm.h>
#include <heed/autograd/ops/rms_norm.h>
#include <heed/tensor/creation.h>

namespace heed::nn {

LayerNorm::LayerNorm(const LayerNormOptions& options) : epsilon_(options.epsilon) {
  if (options.width < 1) raise<ValueError>("[LayerNorm] wanted a width of 1 or more, came {}", options.width);
  weight_ = parameter("weight", ones({options.width}));
  bias_ = parameter("bias", zeros({options.width}));
}

Variable LayerNorm::forward(const Variable& x) { return layer_norm(x, weight_, bias_, epsilon_); }

RMSNorm::RMSNorm(const RMSNormOptions& options) : epsilon_(options.epsilon) {
  if (options.width < 1) raise<ValueError>("[RMSNorm] wanted a width of 1 or more, came {}", options.width);
  weight_ = parameter("weight", ones({options.width}));
}

Variable RMSNorm::forward(const Variable& x) { return rms_norm(x, weight_, epsilon_); }

}  // namespace heed::nn
