#pragma once

#include <array>

#include <heed/tensor/dtype.h>

/// Matrix products by oneDNN. This file's .cpp is the only one that sees the library's headers.
namespace heed::internal {

/// c = a b + bias over a batch of matrices, for f32 or bf16 (c and bias are of the same dtype).
struct Product {
  DType dtype;
  int64_t batch, m, n, k;
  std::array<int64_t, 3> a_strides,
      b_strides;     // (batch, row, column), in elements; batch 0: one matrix for all
  const void* a;     // (batch, m, k)
  const void* b;     // (batch, k, n)
  const void* bias;  // (n) or null
  void* c;           // (batch, m, n), contiguous
};

void multiply(const Product& product);

}  // namespace heed::internal
