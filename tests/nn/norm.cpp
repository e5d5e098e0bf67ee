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
