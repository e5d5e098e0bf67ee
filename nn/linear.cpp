#include <heed/autograd/ops/matmul.h>
#include <heed/nn/init.h>
#include <heed/nn/linear.h>

namespace heed::nn {

Linear::Linear(const LinearOptions& options) : activation_(options.activation) {
  if (options.inputs < 1 || options.outputs < 1)
    raise<ValueError>("[Linear] wanted 1 input and output or more, came {} and {}", options.inputs,
                      options.outputs);
  weight_ = parameter("weight", xavier_uniform({options.outputs, options.inputs}));
  if (options.bias) bias_ = parameter("bias", fan_in_uniform({options.outputs}, options.inputs));
}

Linear::Linear(Tensor weight, Tensor bias) {
  if (weight.rank() != 2 || (bias.defined() && bias.shape() != Shape{weight.size(0)}))
    raise<ShapeError>("[Linear] wanted weight (outputs, inputs) and bias (outputs), came {} and {}",
                      describe(weight), describe(bias));
  weight_ = parameter("weight", std::move(weight));
  if (bias.defined()) bias_ = parameter("bias", std::move(bias));
}

Variable Linear::forward(const Variable& x) {
  if (!activation_) return linear(x, weight_, bias_);
  const Variable product = linear(x, weight_);
  return bias_.defined() ? bias_activation(product, bias_, *activation_) : activate(product, *activation_);
}

}  // namespace heed::nn
