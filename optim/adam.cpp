#include <heed/optim/adam.h>

namespace heed::optim {

Adam::Adam(const NamedVariables& parameters, const AdamOptions& options, bool decoupled)
    : Optimizer(parameters, options.lr), options_(options), decoupled_(decoupled) {
  kind(fmt::format("{}{}", decoupled ? "adamw" : "adam", options.amsgrad ? "_amsgrad" : ""));
  option("beta1", options_.beta1, 0, 1);
  option("beta2", options_.beta2, 0, 1);
  option("epsilon", options_.epsilon);
  option("weight_decay", options_.weight_decay);
  state_tensor("m");
  state_tensor("v");
  if (options_.amsgrad) state_tensor("largest_v");
}

void Adam::update(Tensor& parameter, const Tensor& grad, ParameterState& state) {
  kernels::adam_update(updates(), parameter, grad, state.tensors.at("m"), state.tensors.at("v"),
                       options_.amsgrad ? state.tensors.at("largest_v") : Tensor(),
                       {.lr = lr(),
                        .beta1 = options_.beta1,
                        .beta2 = options_.beta2,
                        .epsilon = options_.epsilon,
                        .weight_decay = options_.weight_decay,
                        .decoupled = decoupled_,
                        .step = state.steps});
}

AdamW::AdamW(const NamedVariables& parameters, const AdamWOptions& options)
    : Adam(parameters,
           {.lr = options.lr,
            .beta1 = options.beta1,
            .beta2 = options.beta2,
            .epsilon = options.epsilon,
            .weight_decay = options.weight_decay,
            .amsgrad = options.amsgrad},
           true) {}

}  // namespace heed::optim
