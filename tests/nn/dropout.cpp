#include <heed/nn/dropout.h>

#include <cmath>

#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

nn::TransformerOptions encoder_options(double dropout) {
  return {.width = 8, .feed_forward = 12, .heads = 2, .layers = 2, .dropout = dropout};
}

}  // namespace

TEST(Dropout, is_in_force_in_training_only) {
  nn::Dropout layer(0.4);
  EXPECT_EQ(layer.active_p(), 0.4);
  layer.eval();
  EXPECT_EQ(layer.active_p(), 0);
  layer.train();
  EXPECT_EQ(layer.active_p(), 0.4);
}

TEST(Dropout, is_decided_by_the_seed) {
  nn::Dropout layer(0.5);
  const Tensor x = random_tensor({100});
  manual_seed(11);
  const Tensor first = layer(x).data(), second = layer(x).data();
  manual_seed(11);
  EXPECT_TRUE(identical(layer(x).data(), first));
  EXPECT_FALSE(identical(first, second));
}

TEST(case_C21, a_evaluation_has_no_dropout_anywhere) {
  nn::TransformerEncoder with(encoder_options(0.5)), without(encoder_options(0));
  without.load_state_dict(with.state_dict());
  with.eval();
  const Tensor x = random_tensor({2, 5, 8});
  const Tensor first = with(x).data(), second = with(x).data();
  EXPECT_TRUE(identical(first, second));
  EXPECT_TRUE(identical(first, without(x).data()));
}

TEST(case_C21, b_training_after_evaluation_draws_again) {
  nn::TransformerEncoder model(encoder_options(0.5));
  const Tensor x = random_tensor({2, 5, 8});
  model.eval();
  const Tensor evaluated = model(x).data();
  model.train();
  const Tensor first = model(x).data(), second = model(x).data();
  EXPECT_FALSE(identical(first, second));
  EXPECT_FALSE(identical(first, evaluated));
}

TEST(case_C21, b_dropout_inside_attention_is_drawn_again_too) {
  nn::MultiHeadAttention model({.width = 8, .heads = 2, .dropout = 0.5});
  const Tensor x = random_tensor({2, 5, 8});
  model.eval();
  EXPECT_TRUE(identical(model(x).data(), model(x).data()));
  model.train();
  EXPECT_FALSE(identical(model(x).data(), model(x).data()));
}

TEST(case_C21, c_dropping_everything_gives_zeros_and_no_gradient) {
  nn::Dropout layer(1);
  const Variable x(ones({4}), true);
  const Variable y = layer(x);
  EXPECT_TRUE(close(y.data(), {0, 0, 0, 0}, kExact));
  y.sum().backward();
  EXPECT_TRUE(close(x.grad().data(), {0, 0, 0, 0}, kExact));
}

TEST(case_C21, d_no_dropout_is_the_identity_and_a_bad_probability_is_named) {
  nn::Dropout layer(0);
  const Tensor x = random_tensor({20});
  EXPECT_TRUE(identical(layer(x).data(), x));
  expect_error<ValueError>([] { nn::Dropout(-0.1); }, "[Dropout] wanted a probability in [0, 1], came -0.1");
  expect_error<ValueError>([] { nn::Dropout(1.5); }, "[Dropout] wanted a probability in [0, 1], came 1.5");
  expect_error<ValueError>([] { nn::Dropout{NAN}; }, "[Dropout] wanted a probability in [0, 1], came nan");
}

TEST(case_C21, e_what_is_kept_is_scaled_and_the_gradient_has_the_same_mask) {
  manual_seed(5);
  nn::Dropout layer(0.25);
  const Variable x(ones({100000}), true);
  const Variable y = layer(x);
  double sum = 0;
  for (const double value : y.data().to_vector<double>()) {
    EXPECT_TRUE(value == 0 || std::abs(value - 1 / 0.75) < 1e-6) << value;
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 1, 0.011);
  y.sum().backward();
  EXPECT_TRUE(identical(x.grad().data(), y.data()));
}
