#pragma once

#include <heed/tensor/tensor.h>

/// How a tensor is looked at when some of its axes (all when none are given) are reduced.
namespace heed::internal {

/// Contiguous (outer, count, inner), of which the middle is reduced.
struct Blocks {
  Tensor values;
  int64_t outer = 1, count = 1, inner = 1;
};

/// x as it lies in memory where the reduced axes are neighbours, else a copy with them last.
Blocks arrange(const Tensor& x, const Dims& axes);

/// ValueError if `out` has values to find and x no elements to find them in.
void expect_elements(const char* op, const Tensor& x, const Dims& axes, const Tensor& out);

}  // namespace heed::internal
