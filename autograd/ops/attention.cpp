#include <heed/autograd/ops/attention.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/cast.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/softmax.h>

namespace heed {
namespace {

/// (batch, length, heads * d) -> (batch, heads, length, d)
Variable split_heads(const Variable& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// (batch, heads, length, d) -> (batch, length, heads * d)
Variable join_heads(const Variable& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// x (..., keys, width) for each query by itself, with zeros where it is hidden from that one: hidden (...,
/// queries, keys) -> (..., queries, keys, width)
Variable own_copies(const Variable& x, const Tensor& hidden) {
  Shape pairs = hidden.shape();
  pairs.push_back(x.size(-1));
  return masked_fill(x.unsqueeze(-3).expand(pairs), hidden.unsqueeze(-1).expand(pairs), 0);
}

/// q (batch, heads, queries, d), k (batch, heads, keys, d) -> their products (batch, heads, queries, keys).
/// Of hidden pairs nothing comes back, be it NaN what stands there.
Variable pair_products(const Variable& q, const Variable& k, const kernels::Mask& mask) {
  if (kernels::all_finite(q.data()) && kernels::all_finite(k.data())) return matmul(q, k.transpose(-2, -1));
  const Shape pairs{q.size(0), q.size(1), q.size(2), k.size(2)};
  const Tensor hidden = kernels::eq(kernels::masked_softmax(zeros(pairs), mask), scalar(0));
  return matmul(q.unsqueeze(3), own_copies(k, hidden).transpose(-2, -1)).squeeze(3);
}

/// The backward kernel, with what it needs beside inputs and gradients.
struct FusedBackward {
  AttentionOptions options;
  Tensor logsumexp;
  std::weak_ptr<AttentionGradients> watcher;

  kernels::AttentionGrads run(Backward& back, const std::vector<Tensor>& in) const {
    const bool weighted = options.want_weights && back.has_grad(1);
    const auto watched = watcher.lock();
    AttentionOptions asked = options;
    asked.want_gradients = watched != nullptr;
    auto grads = kernels::attention_backward(back.grad().data(), weighted ? back.grad(1).data() : Tensor(),
                                             in[0], in[1], in[2], logsumexp, asked);
    if (watched != nullptr) *watched = {grads.weights, grads.scores};
    return grads;
  }
};

}  // namespace

Variable weighted_sum(const Variable& weights, const Variable& values) {
  if (kernels::all_finite(values.data())) return matmul(weights, values);
  const Tensor unweighted = kernels::logical_not(weights.data().to(DType::boolean));
  return matmul(weights.unsqueeze(-2), own_copies(values, unweighted)).squeeze(-2);
}

std::vector<Variable> attention_reference(std::span<const Variable> qkv, const AttentionOptions& options,
                                          const AttentionEdits& edits) {
  const DType dtype = qkv[0].dtype(), wide = dtype == DType::bf16 ? DType::f32 : dtype;
  const auto heads_of = [&](const Variable& x) { return split_heads(cast(x, wide), options.heads); };
  const Variable q = heads_of(qkv[0]), k = heads_of(qkv[1]), v = heads_of(qkv[2]);
  Variable scores = pair_products(q, k, options.mask) * options.scale;  // (batch, heads, queries, keys)
  if (edits.scores) scores = edits.scores(scores);
  Variable weights = masked_softmax(scores, options.mask);
  if (edits.weights) weights = edits.weights(weights);
  const Variable kept = options.dropout_keep.defined()
                            ? dropout_with_mask(weights, options.dropout_keep, options.dropout)
                            : weights;
  return {cast(join_heads(weighted_sum(kept, v)), dtype), cast(weights, dtype)};
}

AttentionResult attention(const Variable& q, const Variable& k, const Variable& v,
                          const AttentionOptions& options) {
  auto result = kernels::attention(q.data(), k.data(), v.data(), options);
  std::vector<Tensor> outputs{result.output};
  if (options.want_weights) outputs.push_back(result.weights);
  const auto gradients = options.want_gradients ? std::make_shared<AttentionGradients>() : nullptr;
  const FusedBackward backward{options, result.logsumexp, gradients};
  const Variable* inputs[] = {&q, &k, &v};
  auto recorded = record_fused(
      "attention", std::move(outputs), inputs,
      [backward](Backward& back, const std::vector<Tensor>& in) {
        auto grads = backward.run(back, in);
        back.give(0, [&] { return std::move(grads.q); });
        back.give(1, [&] { return std::move(grads.k); });
        back.give(2, [&] { return std::move(grads.v); });
      },
      [options](std::span<const Variable> in) {
        auto all = attention_reference(in, options);
        if (!options.want_weights) all.pop_back();
        return all;
      },
      {options.mask.lengths, options.mask.keep, options.mask.bias, options.dropout_keep},
      [backward](Backward& back, const std::vector<Tensor>& in) {
        if (!backward.watcher.expired()) backward.run(back, in);
      });
  return {recorded[0], options.want_weights ? recorded[1] : Variable(), result.scores, gradients};
}

}  // namespace heed
