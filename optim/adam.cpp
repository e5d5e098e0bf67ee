#include <heed/optim/adam.h>
#include <heed/tensor/kernels/update.h>

namespace heed::optim {

Adam::Adam(const NamedVariables& parameters, const AdamOptions& options)
    : Optimizer(parameters, options.lr), options_(options) {
  const auto is_beta = [](double beta) { return beta >= 0 && beta < 1; };
  if (!is_beta(options.beta1) || !is_beta(options.beta2) || !(options.epsilon >= 0) ||
      !(options.weight_decay >= 0))
    raise<ValueError>("[Adam] wanted betas in [0, 1), epsilon and decay of 0 or more, came {}, {}, {}, {}",
                      options.beta1, options.beta2, options.epsilon, options.weight_decay);
}

void Adam::update(Tensor& parameter, const Tensor& grad, ParameterState& state) {
  Tensor& m = state.zeros_at_first("m", parameter);
  Tensor& v = state.zeros_at_first("v", parameter);
  kernels::adam_update(parameter, grad, m, v,
                       {.lr = lr(),
                        .beta1 = options_.beta1,
                        .beta2 = options_.beta2,
                        .epsilon = options_.epsilon,
                        .weight_decay = options_.weight_decay,
                        .step = state.steps});
}

}  // namespace heed::optim
