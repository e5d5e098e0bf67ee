#include <heed/optim/rmsprop.h>

namespace heed::optim {

RMSprop::RMSprop(const NamedVariables& parameters, const RMSpropOptions& options)
    : Optimizer(parameters, options.lr), options_(options), has_velocity_(options.momentum != 0) {
  kind(fmt::format("rmsprop{}{}", options.centered ? "_centered" : "", has_velocity_ ? "_momentum" : ""));
  option("alpha", options_.alpha, 0, 1);
  option("epsilon", options_.epsilon);
  option("weight_decay", options_.weight_decay);
  state_tensor("v");
  if (options_.centered) state_tensor("mean");
  if (!has_velocity_) return;
  option("momentum", options_.momentum, 0, 1);
  state_tensor("velocity");
}

void RMSprop::update(Tensor& parameter, const Tensor& grad, ParameterState& state) {
  kernels::rmsprop_update(updates(), parameter, grad, state.tensors.at("v"),
                          options_.centered ? state.tensors.at("mean") : Tensor(),
                          has_velocity_ ? state.tensors.at("velocity") : Tensor(),
                          {.lr = lr(),
                           .alpha = options_.alpha,
                           .epsilon = options_.epsilon,
                           .weight_decay = options_.weight_decay,
                           .momentum = options_.momentum});
}

}  // namespace heed::optim
