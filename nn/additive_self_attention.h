#pragma once

#include <heed/nn/attention.h>

namespace heed::nn {

struct AdditiveSelfAttentionOptions {
  int64_t width = 0;       ///< of the input
  int64_t head_width = 0;  ///< of the values
  int64_t hidden = 0;      ///< of the score
  double dropout = 0;      ///< of the weights
};

/// SelfAttention by the other score: q = W_q x, k = W_k x, v = W_v x and a(q, k) = w_v^T tanh(q + k), no
/// biases. Parameters: attention.q_proj.weight and attention.k_proj.weight (hidden, width), attention.w_v
/// (hidden), v_proj.weight (head_width, width).
class AdditiveSelfAttention : public Layer<AdditiveSelfAttention> {
 public:
  explicit AdditiveSelfAttention(const AdditiveSelfAttentionOptions& options);
  /// x (batch, length, width) -> (batch, length, head_width).
  Variable forward(const Variable& x, const Mask& mask = {});
  Attended attend(const Variable& x, const Mask& mask = {});
  /// The output at place i alone, (batch, head_width): there is one query, and the mask is that query's.
  Variable output_at(const Variable& x, int64_t i, const Mask& mask = {});

 private:
  AdditiveAttention attention_;
  Linear v_proj_;
};

}  // namespace heed::nn
