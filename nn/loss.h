#pragma once

#include <heed/autograd/ops/cross_entropy.h>

/// How far a prediction is off, as one number to make small. Of nothing, as of an empty batch or of ignored
/// targets only, every loss is 0 with gradient 0.
namespace heed::nn {

/// The mean cross-entropy over the targets that count, from logits (..., classes) and targets i64 (...).
using heed::cross_entropy;

/// mean((x - target)^2) over all elements of two variables of one shape.
Variable mse_loss(const Variable& x, const Variable& target);

struct NLLOptions {
  int64_t ignore_index = -100;  ///< a target that does not count
};

/// The mean of -x[target] over the targets that count, from log-probabilities x (..., classes), as
/// log_softmax gives them, and targets i64 (...). IndexError for a target outside the classes.
Variable nll_loss(const Variable& x, const Tensor& targets, const NLLOptions& options = {});

/// The Kullback-Leibler divergence of log-probabilities x (batch, ...) from the probabilities `target` of the
/// same shape: sum of target * (log(target) - x), over the batch. What has probability 0 adds 0. Kullback,
/// Leibler, "On information and sufficiency" (1951).
Variable kl_div(const Variable& x, const Tensor& target);

}  // namespace heed::nn
