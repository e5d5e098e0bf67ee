#include <heed/nn/mask.h>

#include <algorithm>

#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/softmax.h>

namespace heed::nn {
namespace {

/// How many heads a mask tells apart.
int64_t heads_of(const Mask& mask) {
  int64_t heads = 1;
  for (const Tensor& part : {mask.keep, mask.bias})
    if (part.defined()) heads = std::max(heads, part.size(1));
  return heads;
}

}  // namespace

Variable without_hidden(const Variable& x, const Mask& mask, int64_t queries) {
  if (kernels::all_finite(x.data())) return x;
  const Tensor equal = zeros({x.size(0), heads_of(mask), queries, x.size(1)});
  const Tensor seen =
      kernels::sum(kernels::masked_softmax(equal, mask), {1, 2});  // (batch, keys), 0 if hidden
  return masked_fill(x, kernels::eq(seen, zeros_like(seen)).unsqueeze(-1), 0);
}

std::pair<Variable, Variable> queries_apart(const Variable& q, const Variable& k, const Mask& mask) {
  const int64_t batch = q.size(0), queries = q.size(1), keys = k.size(1), width = k.size(2);
  const Tensor weights = kernels::masked_softmax(zeros({batch, queries, keys}), mask);
  const Tensor hidden = kernels::eq(weights, zeros_like(weights));
  const Variable query = masked_fill(q, kernels::all(hidden, {2}, true), 0);
  const Variable own =
      masked_fill(k.unsqueeze(1).expand({batch, queries, keys, width}), hidden.unsqueeze(-1), 0);
  return {query.reshape({batch * queries, 1, q.size(2)}), own.reshape({batch * queries, keys, width})};
}

}  // namespace heed::nn
