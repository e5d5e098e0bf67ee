#include "gradient_flow/paths.h"

#include <gtest/gtest.h>

namespace heed::gradient_flow {
namespace {

void expect_whole(const std::vector<LayerShares>& layers, size_t count) {
  ASSERT_EQ(layers.size(), count);
  for (const LayerShares& layer : layers) {
    EXPECT_NEAR(layer.query + layer.key + layer.value + layer.residual, 1, 1e-5);
    EXPECT_GT(layer.gradient, 0);
  }
}

TEST(PathsTest, shares_add_up_to_one_in_every_model) {
  const PathsResult result =
      measure_paths({.layers = 3, .width = 12, .heads = 3, .length = 5, .steps = 3, .seed = 4});
  for (const PathsModel* model :
       {&result.one_head, &result.many_heads, &result.additive, &result.no_residual}) {
    expect_whole(model->before, 3);
    expect_whole(model->after, 3);
  }
  for (const LayerShares& layer : result.no_residual.before) EXPECT_EQ(layer.residual, 0);
  EXPECT_NE(result.one_head.after[0].value, result.one_head.before[0].value) << "it has been trained";
  EXPECT_EQ(result.many_heads.name, "3 heads");
  EXPECT_EQ(findings_of(result).page.charts.size(), 8);
  ASSERT_EQ(result.layers.size(), 3);
  EXPECT_EQ(result.layers[0].weights.shape(), Shape({3, 5, 5})) << "(heads, queries, keys)";
  EXPECT_EQ(result.layers[0].flows.at(0).parts.size(), 4);
}

TEST(PathsTest, before_training_the_residual_and_the_values_pass_nearly_all) {
  const PathsResult result = measure_paths({.steps = 1});
  for (const PathsModel* model : {&result.one_head, &result.many_heads}) {
    for (const LayerShares& layer : model->before) EXPECT_LT(layer.query + layer.key, 0.06);
    for (size_t i = 1; i < model->before.size(); ++i)
      EXPECT_GT(model->before[i].residual, model->before[i - 1].residual) << "more in each layer above";
    EXPECT_GT(model->before.back().residual, 0.8);
  }
  EXPECT_GT(result.additive.before.front().key, 3 * result.additive.before.front().query)
      << "what is added to all scores alike changes no weight";
  EXPECT_GT(result.no_residual.before.back().value, 0.99);
}

TEST(PathsTest, what_is_learned_needs_the_residual) {
  const PathsResult result = measure_paths({.layers = 3, .width = 24, .length = 6, .steps = 80});
  EXPECT_LT(result.one_head.loss, 0.5 * result.guess);
  EXPECT_GT(result.no_residual.loss, 0.6 * result.guess);
}

}  // namespace
}  // namespace heed::gradient_flow
