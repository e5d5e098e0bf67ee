#include <heed/optim/adam.h>
#include <heed/tensor/kernels/update.h>

namespace heed::optim {

Adam::Adam(const NamedVariables& parameters, const AdamOptions& options)
    : Optimizer(parameters, options.lr), options_(options) {
  option("beta1", options_.beta1, 0, 1);
  option("beta2", options_.beta2, 0, 1);
  option("epsilon", options_.epsilon);
  option("weight_decay", options_.weight_decay);
  state_tensor("m");
  state_tensor("v");
}

void Adam::update(Tensor& parameter, const Tensor& grad, ParameterState& state) {
  kernels::adam_update(parameter, grad, state.tensors.at("m"), state.tensors.at("v"),
                       {.lr = lr(),
                        .beta1 = options_.beta1,
                        .beta2 = options_.beta2,
                        .epsilon = options_.epsilon,
                        .weight_decay = options_.weight_decay,
                        .step = state.steps});
}

}  // namespace heed::optim
