#pragma once

#include <functional>

#include <heed/nn/module.h>

namespace heed::study {

struct IntegratedGradientsOptions {
  int64_t steps = 64;  ///< of the way from nothing to the whole value
};

struct IntegratedGradients {
  Tensor attributions;  ///< the shape of the point without its last axis: what each place adds to the output
  double from = 0;      ///< the output where the point is zeros
  double to = 0;        ///< the output as it is
  /// |sum of attributions - (to - from)|: 0 for infinitely many steps.
  double completeness_error = 0;
};

/// How much each place of a point x adds to an output F, against x = 0:
///   a = sum over the last axis of x * integral from 0 to 1 of F'(t x) dt
/// by the midpoint rule. For an embedding (batch, length, width) that is one number for each token.
/// module, point: what is varied, as an nn::Embedding and "output"; run() computes F, a single number, and
/// uses that point once. ValueError for no steps, or when run() does not come by the point. Sundararajan,
/// Taly, Yan, "Axiomatic attribution for deep networks" (2017).
IntegratedGradients integrated_gradients(nn::Module& module, const std::string& point,
                                         const std::function<Variable()>& run,
                                         const IntegratedGradientsOptions& options = {});

}  // namespace heed::study
