#include <heed/optim/sgd.h>

namespace heed::optim {

SGD::SGD(const NamedVariables& parameters, const SGDOptions& options)
    : Optimizer(parameters, options.lr), options_(options), has_velocity_(options.momentum != 0) {
  kind(fmt::format("sgd{}", !has_velocity_ ? "" : options.nesterov ? "_nesterov" : "_momentum"));
  option("weight_decay", options_.weight_decay);
  if (!has_velocity_ && (options.nesterov || options.dampening != 0))
    raise<ValueError>("[sgd] dampening and Nesterov's rule want momentum, and there is none");
  if (options.nesterov && options.dampening != 0)
    raise<ValueError>("[sgd] Nesterov's rule wants no dampening, came {}", options.dampening);
  if (!has_velocity_) return;
  option("momentum", options_.momentum, 0, 1);
  if (!options.nesterov) option("dampening", options_.dampening, 0, 1);
  state_tensor("velocity");
}

void SGD::update(Tensor& parameter, const Tensor& grad, ParameterState& state) {
  const bool is_dampened = state.steps > 1 && options_.momentum != 0;
  kernels::sgd_update(updates(), parameter, grad, has_velocity_ ? state.tensors.at("velocity") : Tensor(),
                      {.lr = lr(),
                       .momentum = options_.momentum,
                       .dampening = is_dampened ? options_.dampening : 0,
                       .weight_decay = options_.weight_decay,
                       .nesterov = options_.nesterov});
}

}  // namespace heed::optim
