#include <heed/nn/score.h>

#include <algorithm>
#include <cmath>

#include <heed/autograd/ops/additive_score.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/views.h>
#include <heed/autograd/record.h>
#include <heed/nn/init.h>
#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

void expect_pairs(const char* name, const Variable& q, const Variable& k) {
  if (q.rank() != 3 || k.rank() != 3 || q.size(0) != k.size(0))
    raise<ShapeError>(
        "[{}] wanted queries (batch, queries, width) and keys (batch, keys, width), came {} and {}", name,
        q.shape(), k.shape());
}

void expect_one_width(const char* name, const char* reason, const Variable& q, const Variable& k) {
  expect_pairs(name, q, k);
  if (q.size(2) != k.size(2))
    raise<ShapeError>("[{}] wanted queries and keys of one width, for the score is {}, came {} and {}", name,
                      reason, q.shape(), k.shape());
}

void expect_width(const char* name, const char* what, const Variable& x, int64_t width) {
  if (x.size(2) != width)
    raise<ShapeError>("[{}] wanted {} of width {}, came {}", name, what, width, x.shape());
}

void check_width(const char* name, int64_t width) {
  if (width < 1) raise<ValueError>("[{}] wanted a width of 1 or more, came {}", name, width);
}

}  // namespace

double dot_product_scale(int64_t width) {
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1)));
}

UniformScore::UniformScore(const Options&) {}

Variable UniformScore::forward(const Variable& q, const Variable& k) {
  expect_pairs("UniformScore", q, k);
  return zeros({q.size(0), q.size(1), k.size(1)}, k.dtype());
}

KeyScore::KeyScore(const Options& options) {
  check_width("KeyScore", options.key_width);
  weight_ = parameter("weight", xavier_uniform({1, options.key_width}));
}

Variable KeyScore::forward(const Variable& q, const Variable& k) {
  expect_pairs("KeyScore", q, k);
  expect_width("KeyScore", "keys", k, weight_.size(1));
  const Variable scores = linear(k, weight_).transpose(1, 2);  // (batch, 1, keys)
  return scores.expand({q.size(0), q.size(1), k.size(1)});
}

GaussianScore::GaussianScore(const Options& options) : fixed_w_(options.w) {
  if (!std::isfinite(options.w)) raise<ValueError>("[GaussianScore] wanted a finite w, came {}", options.w);
  if (options.learnable) w_ = parameter("w", full({1}, options.w));
}

Variable GaussianScore::forward(const Variable& q, const Variable& k) {
  expect_one_width("GaussianScore", "of their difference", q, k);
  const Variable difference = q.unsqueeze(2) - k.unsqueeze(1);  // (batch, queries, keys, width)
  const Variable scaled = w_.defined() ? difference * w_ : difference * fixed_w_;
  return sum(scaled.pow(2), {-1}) / -2;
}

DotScore::DotScore(const Options& options) : scaled_(options.scaled) {}

Variable DotScore::forward(const Variable& q, const Variable& k) {
  expect_one_width("DotScore", "their product", q, k);
  const Variable scores = matmul(q, k.transpose(1, 2));
  return scaled_ ? scores * dot_product_scale(q.size(2)) : scores;
}

BilinearScore::BilinearScore(const Options& options) {
  check_width("BilinearScore", std::min(options.query_width, options.key_width));
  weight_ = parameter("weight", xavier_uniform({options.query_width, options.key_width}));
}

Variable BilinearScore::forward(const Variable& q, const Variable& k) {
  expect_pairs("BilinearScore", q, k);
  expect_width("BilinearScore", "queries", q, weight_.size(0));
  expect_width("BilinearScore", "keys", k, weight_.size(1));
  return matmul(matmul(q, weight_), k.transpose(1, 2));
}

AdditiveScore::AdditiveScore(const Options& options)
    : q_proj_({.inputs = options.query_width, .outputs = options.hidden, .bias = false}),
      k_proj_({.inputs = options.key_width, .outputs = options.hidden, .bias = false}) {
  child("q_proj", q_proj_);
  child("k_proj", k_proj_);
  w_v_ = parameter("w_v", xavier_uniform({1, options.hidden}).reshape({options.hidden}));
}

Variable AdditiveScore::forward(const Variable& q, const Variable& k) {
  expect_pairs("AdditiveScore", q, k);
  return score_projected(q, project_keys(k));
}

Variable AdditiveScore::project_keys(const Variable& k) { return k_proj_(k); }

Variable AdditiveScore::score_projected(const Variable& q, const Variable& projected_keys, const Mask& mask) {
  const Variable query = point("query", q_proj_(q)), key = point("key", alias(projected_keys));
  return scores_of_seen(query, key, mask, [this](const Variable& some, const Variable& keys) {
    return additive_score(some, keys, w_v_);
  });
}

}  // namespace heed::nn
