#include <heed/nn/linear.h>

#include <heed/autograd/ops/gelu.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

TEST(Linear, matches_pytorch) {
  nn::Linear layer({.inputs = 5, .outputs = 3});
  expect_like_pytorch(layer, "linear",
                      [&](const Variables& in, const auto&) { return Variables{layer(in[0])}; });
}

TEST(Linear, matches_pytorch_without_a_bias) {
  nn::Linear layer({.inputs = 5, .outputs = 3, .bias = false});
  expect_like_pytorch(layer, "linear_without_bias",
                      [&](const Variables& in, const auto&) { return Variables{layer(in[0])}; });
  EXPECT_FALSE(layer.bias().defined());
}

TEST(Linear, starts_within_its_bounds) {
  manual_seed(3);
  const nn::Linear layer({.inputs = 40, .outputs = 20});
  EXPECT_EQ(layer.weight().shape(), Shape({20, 40}));
  EXPECT_EQ(layer.bias().shape(), Shape({20}));
  for (const double w : layer.weight().data().to_vector<double>())
    EXPECT_LE(std::abs(w), std::sqrt(6.0 / 60) + 1e-6);
  double largest = 0;
  for (const double b : layer.bias().data().to_vector<double>()) largest = std::max(largest, std::abs(b));
  EXPECT_LE(largest, 1 / std::sqrt(40.0) + 1e-6);
  EXPECT_GT(largest, 0.5 / std::sqrt(40.0));
}

TEST(Linear, applies_an_activation) {
  for (const bool bias : {true, false}) {
    nn::Linear plain({.inputs = 5, .outputs = 3, .bias = bias});
    nn::Linear with({.inputs = 5, .outputs = 3, .bias = bias, .activation = ActivationKind::gelu});
    with.load_state_dict(plain.state_dict());
    const Variable x(random_tensor({2, 4, 5}), true), wanted = gelu(plain(x));
    EXPECT_TRUE(close(with(x).data(), wanted.data(), kF32));
    const Variable upstream = random_tensor({2, 4, 3}, 2);
    wanted.backward(upstream.data()), with(x).backward(upstream.data());
    const auto got = with.named_parameters(), reference = plain.named_parameters();
    for (size_t i = 0; i < reference.size(); ++i)
      EXPECT_TRUE(close(got[i].second.grad().data(), reference[i].second.grad().data(), kF32))
          << got[i].first;
  }
}

TEST(Linear, takes_first_values_of_ones_own) {
  nn::Linear layer(tensor_of({{1, 2}, {3, 4}}), tensor_of({10, 20}));
  EXPECT_TRUE(close(layer(tensor_of({{1, 1}})).data(), {13, 27}, kExact));
  nn::Linear plain(tensor_of({{1, 2}, {3, 4}}), Tensor());
  EXPECT_TRUE(close(plain(tensor_of({{1, 1}})).data(), {3, 7}, kExact));
}

TEST(Linear, names_what_does_not_fit) {
  expect_error<ValueError>([] { nn::Linear({.inputs = 0, .outputs = 3}); },
                           "[Linear] wanted 1 input and output or more, came 0 and 3");
  expect_error<ValueError>([] { nn::Linear({.inputs = 3, .outputs = -1}); }, "came 3 and -1");
  expect_error<ShapeError>(
      [] {
        nn::Linear(ones({2, 3}), ones({3}));
      },
      "[Linear] wanted weight (outputs, inputs) and bias (outputs), came f32(2, 3) and "
      "f32(3,)");
  expect_error<ShapeError>([] { nn::Linear(ones({2}), ones({2})); }, "came f32(2,) and f32(2,)");
  nn::Linear layer({.inputs = 3, .outputs = 2});
  expect_error<ShapeError>(
      [&] {
        layer(ones({4, 2}));
      },
      "[linear] wanted x (..., inputs) and weight (outputs, inputs), came (4, 2) and (2, 3)");
}

TEST(Linear, gives_no_rows_for_no_rows) {
  nn::Linear layer({.inputs = 3, .outputs = 2});
  const Variable y = layer(zeros({0, 3}));
  EXPECT_EQ(y.shape(), Shape({0, 2}));
  y.sum().backward();
  EXPECT_TRUE(close(layer.weight().grad().data(), zeros({2, 3}), kExact));
}
