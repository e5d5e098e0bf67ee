#pragma once

#include <heed/tensor/tensor.h>

/// One optimizer step of one parameter, in place and in one pass over memory.
namespace heed::kernels {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient, as an L2 penalty
  int64_t step = 1;         ///< this step's number, from 1
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
/// epsilon). Kingma, Ba, "Adam: a method for stochastic optimization" (2015).
void adam_update(Tensor& parameter, const Tensor& grad, Tensor& m, Tensor& v, const AdamOptions& options);

}  // namespace heed::kernels
