#pragma once

#include <heed/autograd/ops/cross_entropy.h>

namespace heed::nn {

/// The mean cross-entropy over the targets that count, from logits (..., classes) and targets i64 (...).
using heed::cross_entropy;

}  // namespace heed::nn
