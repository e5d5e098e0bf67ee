#pragma once

#include <functional>
#include <memory>

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/attention.h>

namespace heed {

using kernels::AttentionOptions;

/// The gradients of what a fused attention keeps inside, (batch, heads, queries, keys) each: see
/// kernels::AttentionGrads. Undefined until a backward pass has come through; the last pass replaces those of
/// the one before, also where a graph is kept and gradients of leaves add up.
struct AttentionGradients {
  Tensor weights, scores;
};

struct AttentionResult {
  Variable output;  ///< (batch, queries, heads * value width)
  Variable
      weights;    ///< (batch, heads, queries, keys), if options.want_weights; has a gradient like any result
  Tensor scores;  ///< (batch, heads, queries, keys), if options.want_scores
  /// If options.want_gradients. They are computed only while somebody holds this.
  std::shared_ptr<const AttentionGradients> gradients;
};

/// Masked dot-product attention with heads side by side in the last axis; see kernels::attention for the
/// formula and the shapes. What is asked for beside the output changes no bit of it, nor of any gradient.
AttentionResult attention(const Variable& q, const Variable& k, const Variable& v,
                          const AttentionOptions& options);

/// sum_j weights_ij values_j: weights (..., queries, keys), values (..., keys, width) -> (..., queries,
/// width). A product of matrices, but that a weight of exactly 0 takes nothing of its value, be that NaN or
/// infinite.
Variable weighted_sum(const Variable& weights, const Variable& values);

/// Puts other values in the place of scores and weights, (batch, heads, queries, keys), on their way through
/// the composed form; either may be left out.
struct AttentionEdits {
  std::function<Variable(const Variable&)> scores = {}, weights = {};
};

/// Attention composed of products and softmax: what the fused kernel is checked against, what second
/// derivatives go through, and what has places for edits. Gives output and weights. bf16 is computed in f32,
/// in which the edits get and give what they edit.
std::vector<Variable> attention_reference(std::span<const Variable> qkv, const AttentionOptions& options,
                                          const AttentionEdits& edits = {});

}  // namespace heed
