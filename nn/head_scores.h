#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <heed/autograd/ops/join.h>
#include <heed/nn/score.h>

/// The scores of several heads at once, for MultiHeadAttention: any score, and for each head its own.
namespace heed::nn {

/// How well each key answers each query, head by head: a_h(q, k) for queries (batch, heads, queries, width)
/// and keys (batch, heads, keys, width), as scores (batch, heads, queries, keys).
class HeadScores : public Layer<HeadScores> {
 public:
  virtual Variable forward(const Variable& q, const Variable& k) = 0;
};

/// Makes the scores of so many heads, whose queries and keys have this width. An empty one stands for scaled
/// dot products.
using ScoreChoice = std::function<std::unique_ptr<HeadScores>(int64_t heads, int64_t width)>;

namespace internal {

/// ShapeError unless queries and keys have 4 axes, with so many heads.
void expect_heads(int64_t heads, const Variable& q, const Variable& k);
/// Puts the width of a head in the place of one that was left out. ValueError for another.
void fill_head_width(const char* what, int64_t& given, int64_t width);

}  // namespace internal

/// A Score for each head, with parameters of its own: those of head h below "h".
template <class Score>
class EachHead : public HeadScores {
 public:
  EachHead(int64_t heads, const typename Score::Options& options) {
    for (int64_t h = 0; h < heads; ++h)
      child(std::to_string(h), *scores_.emplace_back(std::make_unique<Score>(options)));
  }
  Variable forward(const Variable& q, const Variable& k) override {
    internal::expect_heads(static_cast<int64_t>(scores_.size()), q, k);
    const std::vector<Variable> queries = unstack(q, 1), keys = unstack(k, 1);  // (batch, length, width) each
    std::vector<Variable> scores;
    for (size_t h = 0; h < scores_.size(); ++h) scores.push_back((*scores_[h])(queries[h], keys[h]));
    return stack(scores, 1);
  }

 private:
  std::vector<std::unique_ptr<Score>> scores_;
};

/// Any score that AttentionPooling takes, one for each head:
///   MultiHeadAttention layer({.width = 8, .heads = 2, .score = each_head<AdditiveScore>({.hidden = 16})});
/// Widths of queries and keys among the options are those of a head, and may be left out.
template <class Score>
ScoreChoice each_head(const typename Score::Options& options = {}) {
  return [options](int64_t heads, int64_t width) -> std::unique_ptr<HeadScores> {
    typename Score::Options filled = options;
    if constexpr (requires { filled.query_width; })
      internal::fill_head_width("queries", filled.query_width, width);
    if constexpr (requires { filled.key_width; }) internal::fill_head_width("keys", filled.key_width, width);
    return std::make_unique<EachHead<Score>>(heads, filled);
  };
}

}  // namespace heed::nn
