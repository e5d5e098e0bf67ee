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
  const Variable seen = without_hidden(x, mask, x.size(1));
  return attention_(seen, seen, v_proj_(seen), mask);
}

Attended AdditiveSelfAttention::attend(const Variable& x, const Mask& mask) {
  const Variable seen = without_hidden(x, mask, x.size(1));
  return attention_.attend(seen, attention_.project_keys(seen), v_proj_(seen), mask);
}

Variable AdditiveSelfAttention::output_at(const Variable& x, int64_t i, const Mask& mask) {
  const Variable seen = without_hidden(x, mask, 1);
  return attention_(x.select(1, i).unsqueeze(1), seen, v_proj_(seen), mask).squeeze(1);
}

}  // namespace heed::nn
