#include <heed/nn/mask.h>

#include <algorithm>
#include <utility>

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
  const int64_t axis = q.rank() - 2;  // of queries and of keys; heads may stand before
  Shape pairs = q.shape();            // (batch, heads, queries, keys), or without heads
  pairs[axis + 1] = k.size(axis);
  const Tensor weights = kernels::masked_softmax(zeros(pairs), mask);
  const Tensor hidden = kernels::eq(weights, zeros_like(weights));
  Shape copies = pairs;
  copies.push_back(k.size(-1));
  const Variable query = masked_fill(q, kernels::all(hidden, {-1}, true), 0).unsqueeze(axis + 1);
  const Variable own = masked_fill(k.unsqueeze(axis).expand(copies), hidden.unsqueeze(-1), 0);
  const auto as_samples =
      [&](const Variable& x) {  // (batch, heads, queries, ...) -> (batch * queries, heads, ...)
        const Variable apart = x.transpose(1, axis);
        Shape shape = apart.shape();
        shape.erase(0);
        shape[0] *= q.size(0);
        return apart.reshape(shape);
      };
  return {as_samples(query), as_samples(own)};
}

Variable scores_together(const Variable& scores, const Variable& q) {
  const int64_t axis = q.rank() - 2;
  Shape shape = q.shape();
  if (axis > 1) std::swap(shape[1], shape[2]);
  shape[axis + 1] = scores.size(-1);
  return scores.reshape(shape).transpose(1, axis);
}

}  // namespace heed::nn
