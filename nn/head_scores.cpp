#include <heed/nn/head_scores.h>

namespace heed::nn::internal {

void expect_heads(int64_t heads, const Variable& q, const Variable& k) {
  for (const Variable& x : {q, k})
    if (x.rank() != 4 || x.size(1) != heads)
      raise<ShapeError>(
          "[each_head] wanted queries (batch, {}, queries, width) and keys (batch, {}, keys, width), came {} "
          "and {}",
          heads, heads, q.shape(), k.shape());
}

void fill_head_width(const char* what, int64_t& given, int64_t width) {
  if (given != 0 && given != width)
    raise<ValueError>("[each_head] wanted a score for {} of width {}, as each head has them, came {}", what,
                      width, given);
  given = width;
}

}  // namespace heed::nn::internal
