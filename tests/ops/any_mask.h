#pragma once

#include <heed/tensor/kernels/mask.h>

#include "tests/tensor/generators.h"

namespace heed::test {

/// A mask of random parts for (batch, heads, queries, keys); every kind comes up, and rows that see nothing.
inline kernels::Mask any_mask(int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
  kernels::Mask mask{.causal = any_between(0, 2) == 0};
  Generator generator(static_cast<uint64_t>(any_between(0, 1 << 30)));
  if (any_between(0, 2) == 0) mask.lengths = rand_integers({batch}, 0, keys + 1, generator);
  if (any_between(0, 2) == 0)
    mask.keep = rand_integers({batch, any_between(0, 1) == 0 ? 1 : heads, queries, keys}, 0, 3, generator)
                    .to(DType::boolean);
  if (any_between(0, 2) == 0) mask.bias = rand_normal({1, heads, 1, keys}, 0, 1, DType::f64, generator);
  return mask;
}

}  // namespace heed::test
