#include <heed/nn/pooling.h>

#include <limits>

#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/extremes.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/softmax.h>

namespace heed::nn {
namespace {

/// Of weights, or scores.
void expect_values(const Variable& weights, const Variable& values) {
  if (values.rank() != 3 || values.size(0) != weights.size(0) || values.size(1) != weights.size(2))
    raise<ShapeError>("[pool] wanted values ({}, {}, any), one for each key, came {}", weights.size(0),
                      weights.size(2), values.shape());
}

}  // namespace

Variable pool(const Variable& weights, const Variable& values, Dropout& dropout) {
  expect_values(weights, values);
  return weighted_sum(dropout(weights), values);
}

Variable MaxPooling::forward(const Variable& q, const Variable& k, const Variable& v, const Mask& mask) {
  const Variable scores = UniformScore()(q, k);
  expect_values(scores, v);
  const int64_t batch = q.size(0), queries = q.size(1), keys = k.size(1), width = v.size(2);
  if (scores.numel() * width == 0) return zeros({batch, queries, width}, v.dtype());
  // What has no weight in the average is hidden.
  const Tensor weights = kernels::masked_softmax(scores.data(), mask);
  const Tensor hidden = kernels::eq(weights, zeros_like(weights)).unsqueeze(-1);
  const Variable seen =
      masked_fill(v.unsqueeze(1).expand({batch, queries, keys, width}),
                  hidden.expand({batch, queries, keys, width}), -std::numeric_limits<double>::infinity());
  const Variable largest = max(seen, {2});
  const Tensor sums =
      max(Variable(weights), {2}, true).data();  // (batch, queries, 1): 0 where nothing is seen
  return masked_fill(largest, kernels::eq(sums, zeros_like(sums)), 0);
}

}  // namespace heed::nn
