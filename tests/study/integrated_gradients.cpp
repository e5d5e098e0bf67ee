#include <heed/study/integrated_gradients.h>

#include <heed/autograd/ops.h>
#include <heed/nn/embedding.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;

TEST(IntegratedGradientsTest, of_a_linear_function_are_its_terms) {
  nn::Embedding embedding({.rows = 5, .width = 3});
  const Tensor words = ids({{1, 4}}), weights = random_tensor({3}, 6);
  const auto run = [&] { return sum(embedding(words) * weights) + 7; };
  const auto found = integrated_gradients(embedding, "output", run, {.steps = 1});
  const Variable terms = sum(embedding(words) * weights, {-1});
  EXPECT_TRUE(close(found.attributions, terms.data(), kF32));
  EXPECT_NEAR(found.from, 7, 1e-6);
  EXPECT_NEAR(found.to, run().item(), 1e-6);
  EXPECT_LT(found.completeness_error, 1e-5);
}

TEST(IntegratedGradientsTest, of_a_square_come_to_what_the_square_is) {
  nn::Embedding embedding({.rows = 5, .width = 3});
  embedding.to(DType::f64);
  const Tensor words = ids({{1, 4, 2}});
  const auto found =
      integrated_gradients(embedding, "output", [&] { return sum(embedding(words).pow(2)); }, {.steps = 3});
  EXPECT_TRUE(close(found.attributions, sum(embedding(words).pow(2), {-1}).data(), kF64))
      << "a linear derivative";
}

TEST(IntegratedGradientsTest, add_up_to_the_change_of_a_models_loss_better_with_more_steps) {
  nn::TransformerModel model({.source_vocabulary = 11,
                              .target_vocabulary = 13,
                              .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 1}});
  model.to(DType::f64);
  nn::Module& embedding = model.get_submodule("source_embedding");
  const Tensor source = ids({{1, 2, 3, 4}}), lengths = ids({4});
  const auto run = [&] { return nn::cross_entropy(model(source, lengths, ids({{1, 2}})), ids({{2, 3}})); };
  const auto rough = integrated_gradients(embedding, "output", run, {.steps = 4});
  const auto fine = integrated_gradients(embedding, "output", run, {.steps = 256});
  EXPECT_EQ(fine.attributions.shape(), Shape({1, 4}));
  EXPECT_LT(fine.completeness_error, rough.completeness_error / 10);
  EXPECT_NEAR(sum(Variable(fine.attributions)).item(), fine.to - fine.from, fine.completeness_error + 1e-9);
  EXPECT_NEAR(fine.to, run().item(), 1e-12) << "and the model is as it was";
}

TEST(IntegratedGradientsTest, say_what_they_wanted) {
  nn::Embedding embedding({.rows = 5, .width = 3});
  const auto run = [&] { return sum(embedding(ids({1}))); };
  expect_error<ValueError>([&] { integrated_gradients(embedding, "output", run, {.steps = 0}); },
                           "[integrated_gradients] wanted 1 step or more, came 0");
  expect_error<ValueError>(
      [&] { integrated_gradients(embedding, "weights", run); },
      "[integrated_gradients] the run does not come by a point \"weights\" of the module");
}

}  // namespace
}  // namespace heed::study
