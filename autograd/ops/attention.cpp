#include <heed/autograd/ops/attention.h>

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>

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

std::vector<Variable> attention_reference(std::span<const Variable> qkv, const AttentionOptions& options,
                                          const AttentionEdits& edits) {
  const Variable q = split_heads(qkv[0], options.heads), k = split_heads(qkv[1], options.heads);
  const Variable v = split_heads(qkv[2], options.heads);
  Variable scores = matmul(q, k.transpose(-2, -1)) * options.scale;  // (batch, heads, queries, keys)
  if (edits.scores) scores = edits.scores(scores);
  Variable weights = masked_softmax(scores, options.mask);
  if (edits.weights) weights = edits.weights(weights);
  const Variable kept = options.dropout_keep.defined()
                            ? dropout_with_mask(weights, options.dropout_keep, options.dropout)
                            : weights;
  return {join_heads(matmul(kept, v)), weights};
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
