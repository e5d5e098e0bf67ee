#pragma once

#include <heed/tensor/random.h>

/// First values of parameters, drawn from this thread's generator unless another is given.
namespace heed::nn {

/// Uniform in +-sqrt(6 / (fan_in + fan_out)) for a matrix (fan_out, fan_in). Glorot, Bengio, "Understanding
/// the difficulty of training deep feedforward neural networks" (2010).
Tensor xavier_uniform(const Shape& shape, Generator& generator = default_generator());

/// Uniform in +-1 / sqrt(fan_in): the usual choice for biases.
Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Generator& generator = default_generator());

}  // namespace heed::nn
