#include <heed/nn/recurrent.h>

#include <cmath>

#include <heed/autograd/ops/join.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

constexpr int64_t kBatch = 3, kLength = 5, kInputs = 4, kHidden = 3;

nn::GRUOptions two_layers(double dropout = 0) {
  return {.inputs = kInputs, .hidden = kHidden, .layers = 2, .dropout = dropout};
}

Tensor some_input() { return random_tensor({kBatch, kLength, kInputs}); }

/// Layer by layer, (layers, batch, hidden).
Tensor joined(const nn::RecurrentState& state) { return stack(state, 0).data(); }

}  // namespace

TEST(GRU, matches_pytorch_with_lengths_and_a_first_state) {
  nn::GRU gru(two_layers());
  expect_like_pytorch(gru, "gru", [&](const Variables& in, const auto& args) {
    const auto result = gru(in[0], args[0], unstack(in[1], 0));
    return Variables{result.output, stack(result.state, 0)};
  });
}

TEST(GRU, matches_pytorch_where_every_step_counts) {
  nn::GRU gru(two_layers());
  expect_like_pytorch(gru, "gru_full", [&](const Variables& in, const auto&) {
    const auto result = gru(in[0]);
    return Variables{result.output, stack(result.state, 0)};
  });
}

TEST(GRU, has_two_matrices_and_two_biases_per_layer) {
  const nn::GRU gru(two_layers());
  const std::vector<std::string> wanted{"layers.0.weight_ih", "layers.0.weight_hh", "layers.0.bias_ih",
                                        "layers.0.bias_hh",   "layers.1.weight_ih", "layers.1.weight_hh",
                                        "layers.1.bias_ih",   "layers.1.bias_hh"};
  EXPECT_EQ(names_of(gru.named_parameters()), wanted);
}

TEST(GRUCell, is_its_formula) {
  nn::GRUCell cell(1, 1);
  cell.load_state_dict({{"weight_ih", tensor_of({{0.5}, {-1}, {2}})},
                        {"weight_hh", tensor_of({{1}, {0.25}, {-0.5}})},
                        {"bias_ih", tensor_of({0.1, 0.2, 0.3})},
                        {"bias_hh", tensor_of({-0.4, 0.5, 0.6})}});
  const double x = 0.7, h = -0.8;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  const double r = sigmoid(0.5 * x + 0.1 + h - 0.4), z = sigmoid(-x + 0.2 + 0.25 * h + 0.5);
  const double n = std::tanh(2 * x + 0.3 + r * (-0.5 * h + 0.6));
  EXPECT_TRUE(close(cell(tensor_of({{x}}), tensor_of({{h}})).data(), {(1 - z) * n + z * h}, kF32));
}

TEST(GRU, one_step_at_a_time_equals_the_whole) {
  nn::GRU gru(two_layers());
  const Variable x(some_input());
  const auto whole = gru(x);
  nn::RecurrentState state = gru.zero_state(kBatch);
  for (int64_t t = 0; t < kLength; ++t)
    EXPECT_TRUE(close(gru.step(x.select(1, t), state).data(), whole.output.data().select(1, t), kF32)) << t;
  EXPECT_TRUE(close(joined(state), joined(whole.state), kF32));
}

TEST(GRU, continues_from_a_state) {
  nn::GRU gru(two_layers());
  const Variable x(some_input());
  const auto whole = gru(x), first = gru(x.slice(1, 0, 2)),
             rest = gru(x.slice(1, 2, 5), Tensor(), first.state);
  EXPECT_TRUE(close(rest.output.data(), whole.output.data().slice(1, 2, 5), kF32));
  EXPECT_TRUE(close(joined(rest.state), joined(whole.state), kF32));
}

TEST(GRU, padding_and_neighbours_change_nothing) {
  nn::GRU gru(two_layers());
  const Tensor x = some_input(), lengths = ids({2, 5, 3});
  const auto whole = gru(x, lengths);
  for (int64_t b = 0; b < kBatch; ++b) {
    const auto length = static_cast<int64_t>(lengths.at({b}));
    const Tensor output = whole.output.data().slice(0, b, b + 1).clone();
    const Tensor state = joined(whole.state).slice(1, b, b + 1).clone();
    EXPECT_TRUE(close(output.slice(1, length, kLength), zeros({1, kLength - length, kHidden}), kExact));

    Tensor other = x.clone();
    for (int64_t n = 0; n < kBatch; ++n) other.select(0, n).slice(0, n == b ? length : 0, kLength).fill(50);
    const auto beside = gru(other, lengths);
    EXPECT_TRUE(identical(beside.output.data().slice(0, b, b + 1).clone(), output)) << b;
    EXPECT_TRUE(identical(joined(beside.state).slice(1, b, b + 1).clone(), state)) << b;

    const auto alone = gru(x.slice(0, b, b + 1).slice(1, 0, length));
    EXPECT_TRUE(close(alone.output.data(), output.slice(1, 0, length), {.absolute = 1e-6})) << b;
    EXPECT_TRUE(close(joined(alone.state), state, {.absolute = 1e-6})) << b;
  }
}

TEST(GRU, padding_gets_no_gradient) {
  nn::GRU gru(two_layers());
  const Variable x(some_input(), true);
  const auto result = gru(x, ids({2, 5, 0}));
  (result.output.sum() + stack(result.state, 0).sum()).backward();
  const Tensor grad = x.grad().data();
  EXPECT_TRUE(close(grad.select(0, 0).slice(0, 2, 5), zeros({3, kInputs}), kExact));
  EXPECT_FALSE(close(grad.select(0, 0).slice(0, 1, 2), zeros({1, kInputs}), {.absolute = 1e-4}));
  EXPECT_TRUE(close(grad.select(0, 2), zeros({kLength, kInputs}), kExact));
  expect_finite_grads(gru);
}

TEST(GRU, a_row_of_no_length_keeps_its_state) {
  nn::GRU gru(two_layers());
  const nn::RecurrentState first{random_tensor({kBatch, kHidden}, 2), random_tensor({kBatch, kHidden}, 3)};
  const auto result = gru(some_input(), ids({0, 5, 0}), first);
  for (const int64_t b : {0, 2}) {
    EXPECT_TRUE(close(result.output.data().select(0, b), zeros({kLength, kHidden}), kExact));
    EXPECT_TRUE(close(joined(result.state).select(1, b), joined(first).select(1, b), kExact));
  }
}

TEST(GRU, an_empty_sequence_gives_no_output_and_the_first_state) {
  nn::GRU gru(two_layers());
  const auto empty = gru(zeros({2, 0, kInputs}), ids({0, 0}));
  EXPECT_EQ(empty.output.shape(), Shape({2, 0, kHidden}));
  EXPECT_TRUE(close(joined(empty.state), zeros({2, 2, kHidden}), kExact));
  const auto nobody = gru(zeros({0, 4, kInputs}));
  EXPECT_EQ(nobody.output.shape(), Shape({0, 4, kHidden}));
}

TEST(GRU, dropout_is_between_layers_only) {
  const Tensor x = some_input();
  nn::GRU one({.inputs = kInputs, .hidden = kHidden, .layers = 1, .dropout = 0.5});
  EXPECT_TRUE(identical(one(x).output.data(), one(x).output.data()));
  nn::GRU two(two_layers(0.5)), without(two_layers());
  without.load_state_dict(two.state_dict());
  EXPECT_FALSE(identical(two(x).output.data(), two(x).output.data()));
  two.eval();
  EXPECT_TRUE(identical(two(x).output.data(), without(x).output.data()));
}

TEST(GRU, names_what_does_not_fit) {
  expect_error<ValueError>([] { nn::GRU({.inputs = 2, .hidden = 3, .layers = 0}); },
                           "[GRU] wanted 1 layer or more, came 0");
  expect_error<ValueError>([] { nn::GRU({.inputs = 2, .hidden = 0}); },
                           "[GRU] wanted 1 input and hidden unit or more, came 2 and 0");
  expect_error<ValueError>([] { nn::GRU({.inputs = -2, .hidden = 3}); }, "came -2 and 3");
  expect_error<ValueError>([] { nn::GRU({.inputs = 2, .hidden = 3, .dropout = 2}); },
                           "wanted a probability in [0, 1], came 2");
  nn::GRU gru(two_layers());
  const Tensor x = some_input();
  expect_error<ShapeError>([&] { gru(ones({2, 4})); }, "[GRU] wanted x (batch, length, 4), came (2, 4)");
  expect_error<ShapeError>(
      [&] {
        gru(ones({2, 3, 5}));
      },
      "[GRU] wanted x (batch, length, 4), came (2, 3, 5)");
  expect_error<ShapeError>([&] { gru(x, ids({1, 2})); }, "[GRU] wanted lengths i64(3,), came i64(2,)");
  expect_error<ShapeError>([&] { gru(x, ones({3})); }, "[GRU] wanted lengths i64(3,), came f32(3,)");
  expect_error<IndexError>([&] { gru(x, ids({1, 6, 2})); }, "[GRU] wanted lengths in [0, 5], came 6");
  expect_error<IndexError>([&] { gru(x, ids({1, -1, 2})); }, "[GRU] wanted lengths in [0, 5], came -1");
  nn::RecurrentState one{zeros({kBatch, kHidden})};
  const std::string message = "[GRU] wanted a state for each of 2 layers, came 1";
  expect_error<ValueError>([&] { gru(x, Tensor(), one); }, message);
  expect_error<ValueError>([&] { gru.step(x.select(1, 0), one); }, message);
  const nn::RecurrentState narrow(2, Variable(zeros({kBatch, 2})));
  expect_error<ShapeError>([&] { gru(x, Tensor(), narrow); }, "[GRU] wanted states (3, 3), came (3, 2)");
  const nn::RecurrentState undefined(2);
  expect_error<ShapeError>([&] { gru(x, Tensor(), undefined); },
                           "wanted states (3, 3), came an undefined one");
}
