#pragma once

#include <heed/autograd/named.h>

namespace heed::optim {

/// Scales all gradients by limit / norm if their common Euclidean norm exceeds the limit, and returns the
/// norm as it was. The norm is added up in f64, so gradients of 1e30 are no overflow; a parameter listed
/// twice counts once. A norm that is not finite is returned and the gradients are left as they are, so that
/// the caller can skip the step. ValueError unless limit > 0. Pascanu, Mikolov, Bengio (2013).
double clip_grad_norm(std::span<const Variable> parameters, double limit);

struct ClipOptions {
  bool error_if_nonfinite = false;  ///< ValueError that names the first parameter with such a gradient
};
/// The same with names.
double clip_grad_norm(const NamedVariables& parameters, double limit, const ClipOptions& options);

/// Puts each element of all gradients into [-limit, limit]; NaN stays NaN. ValueError unless limit > 0.
void clip_grad_value(std::span<const Variable> parameters, double limit);

}  // namespace heed::optim
