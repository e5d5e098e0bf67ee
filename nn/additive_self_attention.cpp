#include <heed/nn/additive_self_attention.h>

namespace heed::nn {

AdditiveSelfAttention::AdditiveSelfAttention(const AdditiveSelfAttentionOptions& options)
    : attention_({.query_width = options.width,
                  .key_width = options.width,
                  .hidden = options.hidden,
                  .dropout = options.dropout}),
      v_proj_({.inputs = options.width, .outputs = options.head_width, .bias = false}) {
  child("attention", attention_);
  child("v_proj", v_proj_);
}

Variable AdditiveSelfAttention::forward(const Variable& x, const Mask& mask) {
  return attention_(x, x, v_proj_(x), mask);
}

Attended AdditiveSelfAttention::attend(const Variable& x, const Mask& mask) {
  return attention_.attend(x, attention_.project_keys(x), v_proj_(x), mask);
}

Variable AdditiveSelfAttention::output_at(const Variable& x, int64_t i, const Mask& mask) {
  return attention_(x.select(1, i).unsqueeze(1), x, v_proj_(x), mask).squeeze(1);
}

}  // namespace heed::nn
