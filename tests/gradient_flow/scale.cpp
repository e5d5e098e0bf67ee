#include "gradient_flow/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace heed::gradient_flow {
namespace {

struct Expected {
  double saturation = 0, entropy = 0;
};

/// Softmax of independent normal scores, which those of wide queries and keys tend to, in f64 and with other
/// random numbers.
Expected of_normal_scores(double deviation, int keys) {
  constexpr int kRows = 20000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, deviation);
  Expected mean;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> p(static_cast<size_t>(keys));
    double sum = 0;
    for (double& one : p) sum += one = std::exp(normal(random));
    mean.saturation += 1.0 / kRows;
    for (double& one : p) {
      one /= sum;
      mean.saturation -= one * one / kRows;
      if (one > 0) mean.entropy -= one * std::log(one) / kRows;
    }
  }
  return mean;
}

/// Measured once.
const ScaleResult& curves() {
  static const ScaleResult result = measure_scale({});
  return result;
}

TEST(ScaleTest, divided_scores_let_the_same_gradient_through_whatever_the_width) {
  const ScaleResult& result = curves();
  const auto& first = result.widths.front();
  for (const auto& [width, scaled, unscaled] : result.widths) {
    EXPECT_NEAR(scaled.saturation, first.scaled.saturation, 0.01) << width;
    EXPECT_NEAR(scaled.passed / first.scaled.passed, 1, 0.06) << width;
    EXPECT_EQ(scaled.decided, 0) << width;
  }
}

TEST(ScaleTest, without_division_softmax_saturates_and_the_gradient_dies) {
  const ScaleResult& result = curves();
  for (size_t i = 1; i < result.widths.size(); ++i) {
    EXPECT_LT(result.widths[i].unscaled.saturation, result.widths[i - 1].unscaled.saturation);
    EXPECT_LT(result.widths[i].unscaled.passed_by_half, result.widths[i - 1].unscaled.passed_by_half);
  }
  const Softmax &narrow = result.widths.front().unscaled, &wide = result.widths.back().unscaled;
  EXPECT_LT(wide.saturation, 0.1);
  EXPECT_LT(wide.passed / narrow.passed, 0.55);
  EXPECT_LT(wide.passed_by_half / narrow.passed_by_half, 0.005);
  EXPECT_GT(wide.decided, 0.6);
}

TEST(ScaleTest, wide_products_are_normal_with_deviation_one_or_sqrt_d) {
  const ScaleResult result = measure_scale({.widths = {256}, .queries = 1024, .seed = 1});
  const auto& [width, scaled, unscaled] = result.widths.at(0);
  const Expected one = of_normal_scores(1, 16), many = of_normal_scores(std::sqrt(256.0), 16);
  EXPECT_NEAR(scaled.saturation, one.saturation, 0.01);
  EXPECT_NEAR(scaled.entropy, one.entropy, 0.02);
  EXPECT_NEAR(unscaled.saturation, many.saturation, 0.02);
  EXPECT_NEAR(unscaled.entropy, many.entropy, 0.03);
}

}  // namespace
}  // namespace heed::gradient_flow
