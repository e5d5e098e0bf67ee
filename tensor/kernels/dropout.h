#pragma once

#include <heed/tensor/random.h>
#include <heed/tensor/tensor.h>

namespace heed::kernels {

/// True with probability 1 - p (to the nearest 1/65536), each element by itself. ValueError unless 0 <= p
/// <= 1.
Tensor dropout_mask(const Shape& shape, double p, Generator& generator);

/// x / (1 - p) where `keep`, else 0; all zeros for p = 1. Srivastava et al., "Dropout" (JMLR 2014).
Tensor dropout(const Tensor& x, const Tensor& keep, double p);

/// 1 / (1 - p), or 0 for p = 1: what a kept element is multiplied by. ValueError unless 0 <= p <= 1.
double dropout_scale(double p);

}  // namespace heed::kernels
