#pragma once

#include <heed/tensor/random.h>

/// First values of parameters, drawn from this thread's generator unless another is given. A matrix is
/// (fan_out, fan_in), as the weight of a Linear. Normal and uniform numbers without a rule for their size are
/// rand_normal and rand_uniform. Parameters that are there already take new values by copy_from:
///   for (const auto& [name, p] : model.named_parameters())
///     if (p.rank() == 2) Tensor(p.data()).copy_from(kaiming_normal(p.shape()));
namespace heed::nn {

/// Uniform in +-sqrt(6 / (fan_in + fan_out)) for a matrix (fan_out, fan_in). Glorot, Bengio, "Understanding
/// the difficulty of training deep feedforward neural networks" (2010).
Tensor xavier_uniform(const Shape& shape, Generator& generator = default_generator());

/// Normal with deviation sqrt(2 / (fan_in + fan_out)): xavier_uniform's variance.
Tensor xavier_normal(const Shape& shape, Generator& generator = default_generator());

/// Uniform in +-sqrt(6 / fan_in), which keeps the variance through a ReLU. He et al., "Delving deep into
/// rectifiers" (2015).
Tensor kaiming_uniform(const Shape& shape, Generator& generator = default_generator());

/// Normal with deviation sqrt(2 / fan_in): kaiming_uniform's variance.
Tensor kaiming_normal(const Shape& shape, Generator& generator = default_generator());

/// Uniform in +-1 / sqrt(fan_in): the usual choice for biases.
Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Generator& generator = default_generator());

/// Normal, but what lies further than `cut` deviations from the mean is drawn again. ValueError unless the
/// deviation is not negative and the cut is 0.1 or more.
Tensor truncated_normal(const Shape& shape, double mean = 0, double deviation = 1, double cut = 2,
                        Generator& generator = default_generator());

/// A random matrix whose columns, or rows if these are fewer, are orthogonal and of length `gain`. Saxe,
/// McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning" (2014).
Tensor orthogonal(const Shape& shape, double gain = 1, Generator& generator = default_generator());

}  // namespace heed::nn
