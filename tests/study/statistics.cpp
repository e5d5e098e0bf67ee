#include <heed/study/statistics.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include <heed/autograd/ops.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

#include "tests/ops/any_mask.h"
#include "tests/tensor/helpers.h"

namespace heed::study {
namespace {

using heed::test::any_between;
using heed::test::expect_error;

constexpr double HeadStatistics::*kExactOnes[]{
    &HeadStatistics::entropy,   &HeadStatistics::largest,         &HeadStatistics::saturation,
    &HeadStatistics::relevance, &HeadStatistics::weight_gradient, &HeadStatistics::score_gradient};

TEST(HeadStatisticsTest, of_even_weights_and_of_one_key_are_known) {
  const Tensor even = full({1, 1, 3, 4}, 0.25, DType::f64), zero = zeros({1, 1, 3, 4}, DType::f64);
  const HeadStatistics flat = head_statistics(even, zero, {}, {})[0];
  EXPECT_EQ(flat.queries, 3);
  EXPECT_NEAR(flat.entropy, std::log(4), 1e-12);
  EXPECT_NEAR(flat.largest, 0.25, 1e-12);
  EXPECT_NEAR(flat.saturation, 0.75, 1e-12);
  EXPECT_EQ(flat.spread, 0);

  const Tensor one = tensor_of({{{{1, 0, 0}}}}, DType::f64), scores = tensor_of({{{{7, -1, 2}}}}, DType::f64);
  const HeadStatistics sharp = head_statistics(one, scores, {}, {})[0];
  EXPECT_NEAR(sharp.entropy, 0, 1e-12);
  EXPECT_EQ(sharp.largest, 1);
  EXPECT_EQ(sharp.saturation, 0);
}

/// The definitions, written out.
HeadStatistics by_definition(const Tensor& weights, const Tensor& scores, const Tensor& weight_grads,
                             const Tensor& score_grads, int64_t head) {
  HeadStatistics all;
  double weight_squares = 0, score_squares = 0;
  for (int64_t b = 0; b < weights.size(0); ++b)
    for (int64_t i = 0; i < weights.size(2); ++i) {
      double entropy = 0, largest = 0, squares = 0, seen = 0, mean = 0, variance = 0, relevance = 0, row = 0;
      for (int64_t j = 0; j < weights.size(3); ++j) {
        const double p = weights.at({b, head, i, j}), s = scores.at({b, head, i, j});
        const double dp = weight_grads.at({b, head, i, j}), ds = score_grads.at({b, head, i, j});
        row += dp * dp;
        score_squares += ds * ds;
        relevance += std::abs(p * dp);
        if (p == 0) continue;
        entropy -= p * std::log(p);
        largest = std::max(largest, p);
        squares += p * p;
        seen += 1;
        mean += s;
        variance += s * s;
      }
      weight_squares += row;
      if (seen == 0 || row == 0) continue;
      mean /= seen;
      ++all.queries;
      all.entropy += entropy;
      all.largest += largest;
      all.saturation += 1 - squares;
      all.spread += std::sqrt(std::max(0.0, variance / seen - mean * mean));
      all.relevance += relevance;
    }
  const double count = std::max<double>(1, static_cast<double>(all.queries));
  for (double* value : {&all.entropy, &all.largest, &all.saturation, &all.spread, &all.relevance})
    *value /= count;
  all.weight_gradient = std::sqrt(weight_squares);
  all.score_gradient = std::sqrt(score_squares);
  return all;
}

TEST(HeadStatisticsTest, are_what_their_definitions_say) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape{any_between(1, 2), any_between(1, 2), any_between(1, 4), any_between(1, 8)};
    const auto any = [&] { return rand_normal(shape, 0, 1, DType::f64); };
    const Tensor scores = any(), weight_grads = any(), score_grads = any();
    const Tensor weights =
        masked_softmax(scores, test::any_mask(shape[0], shape[1], shape[2], shape[3])).data();
    weight_grads.select(2, 0).fill(0);  // the first query of each head is as padding
    const auto got = head_statistics(weights, scores, weight_grads, score_grads);
    RC_ASSERT(static_cast<int64_t>(got.size()) == shape[1]);
    for (int64_t h = 0; h < shape[1]; ++h) {
      const HeadStatistics want = by_definition(weights, scores, weight_grads, score_grads, h);
      const HeadStatistics& one = got[static_cast<size_t>(h)];
      RC_ASSERT(one.queries == want.queries);
      // A spread is the root of a difference of squares.
      RC_ASSERT(std::abs(one.spread - want.spread) <= 1e-6);
      for (const auto member : kExactOnes) RC_ASSERT(std::abs(one.*member - want.*member) <= 1e-9);
    }
  }));
}

TEST(HeadStatisticsTest, of_queries_that_see_nothing_are_zeros) {
  const Tensor nothing = zeros({2, 2, 3, 4}), scores = rand_normal({2, 2, 3, 4});
  for (const Tensor& keys : {nothing, zeros({2, 2, 3, 0})}) {
    const Tensor fitting = keys.size(3) == 0 ? keys : scores;
    for (const HeadStatistics& head : head_statistics(keys, fitting, keys, keys)) {
      EXPECT_EQ(head.queries, 0);
      EXPECT_EQ(head.entropy, 0);
      EXPECT_EQ(head.spread, 0);
    }
  }
}

TEST(HeadStatisticsTest, want_tensors_that_fit) {
  const Tensor x = zeros({1, 2, 3, 4});
  expect_error<ShapeError>(
      [&] {
        head_statistics(zeros({2, 3}), x, {}, {});
      },
      "[head_statistics] wanted weights (batch, heads, queries, keys), came f32(2, 3)");
  expect_error<ShapeError>(
      [&] {
        head_statistics(x, x, zeros({1, 2, 3, 5}), {});
      },
      "[head_statistics] wanted all alike, came f32(1, 2, 3, 4) and f32(1, 2, 3, 5)");
  expect_error<ShapeError>(
      [&] {
        norms_by_head(zeros({1, 2, 3}), 2);
      },
      "[norms_by_head] wanted (batch, length, a multiple of 2 heads), came f32(1, 2, 3)");
}

TEST(NormsByHeadTest, are_those_of_the_columns_of_each) {
  const Tensor x = tensor_of({{{3, 4, 0, 1}, {0, 0, 2, 2}}});
  const auto norms = norms_by_head(x, 2);
  EXPECT_NEAR(norms[0], 5, 1e-6);
  EXPECT_NEAR(norms[1], 3, 1e-6);
}

TEST(ParameterStatisticsTest, count_what_is_zero_or_not_finite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor weight = tensor_of({3, 4, 0, 0}), gradient = tensor_of({0, 1, -infinity, std::nan("")});
  const ParameterStatistics first = parameter_statistics(weight, gradient, {});
  EXPECT_NEAR(first.weight_norm, 5, 1e-6);
  EXPECT_NEAR(first.gradient_norm, 1, 1e-6);
  EXPECT_EQ(first.zeros, 0.25);
  EXPECT_EQ(first.not_finite, 0.5);
  EXPECT_EQ(first.update_ratio, 0);
  const ParameterStatistics next = parameter_statistics(weight, {}, tensor_of({3, 0, 3, 0}));
  EXPECT_NEAR(next.update_ratio, 5 / std::sqrt(18), 1e-6);
  EXPECT_EQ(next.gradient_norm, 0);
  EXPECT_EQ(parameter_statistics(weight, gradient, zeros({4})).update_ratio, 0);
}

}  // namespace
}  // namespace heed::study
