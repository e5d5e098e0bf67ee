#include <heed/nn/norm.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

TEST(LayerNorm, matches_pytorch) {
  nn::LayerNorm layer({.width = 6});
  expect_like_pytorch(layer, "layer_norm",
                      [&](const Variables& in, const auto&) { return Variables{layer(in[0])}; });
}

TEST(LayerNorm, starts_with_mean_0_and_variance_1) {
  nn::LayerNorm layer({.width = 64, .epsilon = 0});
  const auto y = layer(random_tensor({1, 64})).data().to_vector<double>();
  double mean = 0, square = 0;
  for (const double v : y) mean += v / 64, square += v * v / 64;
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST(LayerNorm, uses_its_epsilon) {
  nn::LayerNorm layer({.width = 2, .epsilon = 3});
  EXPECT_TRUE(close(layer(tensor_of({{-1, 1}})).data(), {-0.5, 0.5}, kF32));
}

TEST(LayerNorm, treats_each_place_by_itself) {
  nn::LayerNorm layer({.width = 5});
  const Tensor x = random_tensor({2, 3, 5});
  const Tensor y = layer(x).data();
  EXPECT_TRUE(
      identical(layer(x.slice(0, 1, 2).slice(1, 2, 3)).data(), y.slice(0, 1, 2).slice(1, 2, 3).clone()));
}

TEST(LayerNorm, names_what_does_not_fit) {
  expect_error<ValueError>([] { nn::LayerNorm({.width = 0}); },
                           "[LayerNorm] wanted a width of 1 or more, came 0");
  nn::LayerNorm layer({.width = 3});
  expect_error<ShapeError>(
      [&] {
        layer(ones({2, 4}));
      },
      "[layer_norm] wanted x (..., width) and weight and bias (width), came (2, 4), (3,)");
  nn::LayerNorm negative({.width = 3, .epsilon = -1});
  expect_error<ValueError>(
      [&] {
        negative(ones({2, 3}));
      },
      "[layer_norm] wanted an epsilon of 0 or more, came -1");
}

TEST(RMSNorm, matches_pytorch) {
  nn::RMSNorm layer({.width = 6});
  expect_like_pytorch(layer, "rms_norm",
                      [&](const Variables& in, const auto&) { return Variables{layer(in[0])}; });
}

TEST(RMSNorm, starts_with_mean_square_1) {
  nn::RMSNorm layer({.width = 64, .epsilon = 0});
  double square = 0;
  for (const double v : layer(random_tensor({1, 64})).data().to_vector<double>()) square += v * v / 64;
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST(RMSNorm, uses_its_epsilon) {
  nn::RMSNorm layer({.width = 2, .epsilon = 3});
  EXPECT_TRUE(close(layer(tensor_of({{-1, 1}})).data(), {-0.5, 0.5}, kF32));
}

TEST(RMSNorm, has_a_weight_and_no_bias) {
  nn::RMSNorm layer({.width = 5});
  EXPECT_EQ(names_of(layer.named_parameters()), (std::vector<std::string>{"weight"}));
  EXPECT_TRUE(close(layer.named_parameters()[0].second.data(), {1, 1, 1, 1, 1}, kExact));
}

TEST(RMSNorm, treats_each_place_by_itself) {
  nn::RMSNorm layer({.width = 5});
  const Tensor x = random_tensor({2, 3, 5});
  const Tensor y = layer(x).data();
  EXPECT_TRUE(
      identical(layer(x.slice(0, 1, 2).slice(1, 2, 3)).data(), y.slice(0, 1, 2).slice(1, 2, 3).clone()));
}

TEST(RMSNorm, names_what_does_not_fit) {
  expect_error<ValueError>([] { nn::RMSNorm({.width = 0}); },
                           "[RMSNorm] wanted a width of 1 or more, came 0");
  nn::RMSNorm layer({.width = 3});
  expect_error<ShapeError>(
      [&] {
        layer(ones({2, 4}));
      },
      "[rms_norm] wanted x (..., width) and weight (width), came (2, 4) and (3,)");
}
