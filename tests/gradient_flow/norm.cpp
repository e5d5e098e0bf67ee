#include "gradient_flow/norm.h"

#include <gtest/gtest.h>

namespace heed::gradient_flow {
namespace {

/// The published curves. The pre-norm stream begins with the embedding, so that over these depths the power
/// is a little above -1/2.
TEST(NormTest, gradient_is_flat_with_post_norm_and_falls_with_depth_with_pre_norm) {
  const NormResult result = measure_norm({.width = 32, .batch = 8, .seeds = 10});
  ASSERT_EQ(result.depths.size(), 4);
  const auto &shallow = result.depths.front(), &deep = result.depths.back();
  EXPECT_EQ(deep.layers, 16);
  EXPECT_NEAR(deep.post / shallow.post, 1, 0.25);
  EXPECT_NEAR(result.post_power, 0, 0.12);
  EXPECT_NEAR(result.pre_power, -0.45, 0.1);
  EXPECT_LT(deep.pre / shallow.pre, 0.5);
  for (const auto& depth : result.depths)
    EXPECT_NEAR(depth.pre * depth.stream / (shallow.pre * shallow.stream), 1, 0.2)
        << "the gradient is divided by the stream at " << depth.layers << " layers";
}

TEST(NormTest, tells_of_every_layer_of_the_deepest_model_and_depends_on_the_seed_alone) {
  const NormOptions options{.layers = {1, 2}, .width = 8, .batch = 2, .seeds = 1, .seed = 3};
  const NormResult result = measure_norm(options);
  ASSERT_EQ(result.post_by_layer.size(), 2);
  ASSERT_EQ(result.pre_by_layer.size(), 2);
  EXPECT_EQ(result.post_by_layer[1], result.depths[1].post);
  EXPECT_EQ(result.pre_by_layer[1], result.depths[1].pre);
  EXPECT_GT(result.post_by_layer[0], 0);
  EXPECT_EQ(measure_norm(options).post_by_layer, result.post_by_layer);
  EXPECT_NE(measure_norm({.layers = {1, 2}, .width = 8, .batch = 2, .seeds = 1, .seed = 4}).post_by_layer,
            result.post_by_layer);
}

}  // namespace
}  // namespace heed::gradient_flow
