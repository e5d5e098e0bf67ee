#include <heed/study/rollout.h>

#include <heed/autograd/ops.h>
#include <heed/tensor/random.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;

TEST(RolloutTest, of_one_layer_is_half_attention_and_half_residual) {
  const Tensor one[]{tensor_of({{{{0.2, 0.8}, {1, 0}}, {{0.6, 0.4}, {0, 1}}}}, DType::f64)};
  EXPECT_TRUE(close(rollout(one), tensor_of({{{0.7, 0.3}, {0.25, 0.75}}}, DType::f64), kF64));
}

TEST(RolloutTest, of_several_layers_is_their_product_and_each_row_adds_up_to_1) {
  std::vector<Tensor> layers;
  for (uint64_t i = 0; i < 3; ++i)
    layers.push_back(softmax(Variable(random_tensor({2, 2, 4, 4}, i).to(DType::f64)), -1).data());
  const Tensor all = rollout(layers);
  Variable want = Variable(rollout(std::span(layers).first(1)));
  for (size_t i = 1; i < 3; ++i) want = matmul(rollout(std::span(layers).subspan(i, 1)), want);
  EXPECT_TRUE(close(all, want.data(), kF64));
  EXPECT_TRUE(close(sum(Variable(all), {-1}).data(), ones({2, 4}, DType::f64), kF64));
}

TEST(RolloutTest, a_row_that_sees_nothing_keeps_its_own_place) {
  const Tensor nothing[]{zeros({1, 1, 2, 2})};
  EXPECT_TRUE(close(rollout(nothing), tensor_of({{{1, 0}, {0, 1}}}), kExact));
}

TEST(GradientRolloutTest, counts_attention_whose_growth_makes_the_loss_smaller) {
  const Tensor weights[]{tensor_of({{{{0.25, 0.75}, {0.5, 0.5}}}})};
  const Tensor gradients[]{tensor_of({{{{-2, 4}, {0, -1}}}})};
  EXPECT_TRUE(close(gradient_rollout(weights, gradients), tensor_of({{{1.5, 0}, {0, 1.5}}}), kExact));
}

TEST(RolloutTest, wants_square_layers_that_are_alike) {
  const Tensor square = zeros({1, 2, 3, 3});
  expect_error<ValueError>([] { rollout({}); }, "[rollout] wanted the weights of a layer or more, came none");
  const Tensor cross[]{square, zeros({1, 2, 3, 4})};
  expect_error<ShapeError>([&] { rollout(cross); },
                           "[rollout] wanted (batch, heads, places, places) alike in all layers, came "
                           "f32(1, 2, 3, 3) and f32(1, 2, 3, 4)");
  expect_error<ValueError>(
      [&] { gradient_rollout(cross, {}); },
      "[gradient_rollout] wanted weights and gradients of a layer or more, came 2 and 0");
}

}  // namespace
}  // namespace heed::study
