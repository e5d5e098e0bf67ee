#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/attention.h>

namespace heed {

using kernels::AttentionOptions;

struct AttentionResult {
  Variable output;  ///< (batch, queries, heads * value width)
  Variable
      weights;    ///< (batch, heads, queries, keys), if options.want_weights; has a gradient like any result
  Tensor scores;  ///< (batch, heads, queries, keys), if options.want_scores
};

/// Masked dot-product attention with heads side by side in the last axis; see kernels::attention for the
/// formula and the shapes.
AttentionResult attention(const Variable& q, const Variable& k, const Variable& v,
                          const AttentionOptions& options);

/// The same composed of products and softmax: what the fused kernel is checked against, and what second
/// derivatives go through. Gives output and weights.
std::vector<Variable> attention_reference(std::span<const Variable> qkv, const AttentionOptions& options);

}  // namespace heed
