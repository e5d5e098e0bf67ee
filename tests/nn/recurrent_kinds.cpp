#include <cmath>

#include <heed/autograd/ops/join.h>
#include <heed/nn/recurrent.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

/// What holds for every kind of recurrent stack, and for both directions.
namespace {

constexpr int64_t kBatch = 3, kLength = 5, kInputs = 4, kHidden = 3;

/// Of all layers, (layers * directions, batch, hidden): h, and c where there is one.
Variables joined(const nn::RecurrentState& state) { return {stack(state, 0)}; }
Variables joined(const std::vector<nn::LSTMState>& state) {
  Variables h, c;
  for (const auto& one : state) h.push_back(one.h), c.push_back(one.c);
  return {stack(h, 0), stack(c, 0)};
}

template <class Result>
Variables all_of(const Result& result) {
  Variables all{result.output};
  for (const Variable& x : joined(result.state)) all.push_back(x);
  return all;
}

std::vector<nn::LSTMState> lstm_state(const Variable& h, const Variable& c) {
  std::vector<nn::LSTMState> state;
  const Variables hs = unstack(h, 0), cs = unstack(c, 0);
  for (size_t i = 0; i < hs.size(); ++i) state.push_back({hs[i], cs[i]});
  return state;
}

template <class Stack>
void expect_stack_like_pytorch(Stack& stack, const std::string& name) {
  expect_like_pytorch(stack, name, [&](const Variables& in, const auto& args) {
    if constexpr (std::is_same_v<Stack, nn::LSTM>)
      return all_of(stack(in[0], args[0], lstm_state(in[1], in[2])));
    else
      return all_of(stack(in[0], args[0], unstack(in[1], 0)));
  });
}

template <class T>
class Recurrent : public testing::Test {
 protected:
  static typename T::Options options(bool bidirectional) {
    return {.inputs = kInputs, .hidden = kHidden, .layers = 2, .bidirectional = bidirectional};
  }
};
using Kinds = testing::Types<nn::GRU, nn::RNN, nn::LSTM>;
TYPED_TEST_SUITE(Recurrent, Kinds);

Tensor some_input() { return random_tensor({kBatch, kLength, kInputs}); }

}  // namespace

TEST(RNN, matches_pytorch_with_tanh_and_relu) {
  nn::RNN with_tanh({.inputs = 4, .hidden = 3, .layers = 2});
  expect_stack_like_pytorch(with_tanh, "rnn_tanh");
  nn::RNN with_relu({.inputs = 4, .hidden = 3, .layers = 2, .activation = ActivationKind::relu});
  expect_stack_like_pytorch(with_relu, "rnn_relu");
}

TEST(LSTM, matches_pytorch_with_lengths_and_a_first_state) {
  nn::LSTM lstm({.inputs = 4, .hidden = 3, .layers = 2});
  expect_stack_like_pytorch(lstm, "lstm");
}

TEST(GRU, matches_pytorch_in_both_directions) {
  nn::GRU both({.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true});
  expect_stack_like_pytorch(both, "gru_bidirectional");
}

TEST(RNN, matches_pytorch_in_both_directions) {
  nn::RNN both({.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true});
  expect_stack_like_pytorch(both, "rnn_bidirectional");
}

TEST(LSTM, matches_pytorch_in_both_directions) {
  nn::LSTM both({.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true});
  expect_stack_like_pytorch(both, "lstm_bidirectional");
}

TEST(LSTMCell, is_its_formula) {
  nn::LSTMCell cell(1, 1);
  cell.load_state_dict({{"weight_ih", tensor_of({{0.5}, {-1}, {2}, {0.3}})},
                        {"weight_hh", tensor_of({{1}, {0.25}, {-0.5}, {0.7}})},
                        {"bias_ih", tensor_of({0.1, 0.2, 0.3, 0.4})},
                        {"bias_hh", tensor_of({-0.4, 0.5, 0.6, -0.1})}});
  const double x = 0.7, h = -0.8, c = 0.9;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  const double i = sigmoid(0.5 * x + h - 0.3), f = sigmoid(-x + 0.25 * h + 0.7);
  const double g = std::tanh(2 * x - 0.5 * h + 0.9), o = sigmoid(0.3 * x + 0.7 * h + 0.3);
  const auto next = cell(tensor_of({{x}}), nn::LSTMState{tensor_of({{h}}), tensor_of({{c}})});
  EXPECT_TRUE(close(next.c.data(), {f * c + i * g}, kF32));
  EXPECT_TRUE(close(next.h.data(), {o * std::tanh(f * c + i * g)}, kF32));
}

TEST(RNNCell, is_its_formula) {
  nn::RNNCell cell(1, 1), rectified(1, 1, ActivationKind::relu);
  const StateDict state{{"weight_ih", tensor_of({{0.5}})},
                        {"weight_hh", tensor_of({{-2}})},
                        {"bias_ih", tensor_of({0.1})},
                        {"bias_hh", tensor_of({0.3})}};
  cell.load_state_dict(state), rectified.load_state_dict(state);
  const Tensor x = tensor_of({{0.7}, {0.7}}), h = tensor_of({{-0.8}, {0.8}});
  EXPECT_TRUE(close(cell(x, h).data(), {std::tanh(2.35), std::tanh(-0.85)}, kF32));
  EXPECT_TRUE(close(rectified(x, h).data(), {2.35, 0}, kF32));
}

TYPED_TEST(Recurrent, padding_and_neighbours_change_nothing) {
  for (const bool bidirectional : {false, true}) {
    TypeParam recurrent(this->options(bidirectional));
    const Tensor x = some_input(), lengths = ids({2, 5, 3});
    const Variables whole = all_of(recurrent(x, lengths));
    for (int64_t b = 0; b < kBatch; ++b) {
      const auto length = static_cast<int64_t>(lengths.at({b}));
      Tensor other = x.clone();
      for (int64_t n = 0; n < kBatch; ++n) other.select(0, n).slice(0, n == b ? length : 0, kLength).fill(50);
      const Variables beside = all_of(recurrent(other, lengths)),
                      alone = all_of(recurrent(x.slice(0, b, b + 1).slice(1, 0, length)));
      const Tensor output = whole[0].data().select(0, b);
      EXPECT_TRUE(close(output.slice(0, length, kLength), zeros({kLength - length, output.size(1)}), kExact));
      EXPECT_TRUE(close(beside[0].data().select(0, b), output, kExact)) << b;
      EXPECT_TRUE(close(alone[0].data().select(0, 0), output.slice(0, 0, length), {.absolute = 1e-6})) << b;
      for (size_t i = 1; i < whole.size(); ++i) {
        const Tensor state = whole[i].data().select(1, b);
        EXPECT_TRUE(close(beside[i].data().select(1, b), state, kExact)) << b;
        EXPECT_TRUE(close(alone[i].data().select(1, 0), state, {.absolute = 1e-6})) << b;
      }
    }
  }
}

TYPED_TEST(Recurrent, backwards_is_forwards_on_the_reversed_row) {
  auto options = this->options(true);
  options.layers = 1;
  TypeParam both(options);
  options.bidirectional = false;
  TypeParam one(options);
  StateDict reverse;
  for (const auto& [name, x] : both.state_dict())
    if (name.starts_with("reverse_")) reverse.emplace(name.substr(8), x);
  one.load_state_dict(reverse);
  const Tensor x = some_input();
  const Tensor backwards = both(x, ids({5, 5, 5})).output.data().slice(2, kHidden, 2 * kHidden);
  const Tensor forwards = one(reordered(x, 1, {4, 3, 2, 1, 0})).output.data();
  EXPECT_TRUE(close(backwards, reordered(forwards, 1, {4, 3, 2, 1, 0}), kF32));
}

TYPED_TEST(Recurrent, has_gradients_that_differences_confirm) {
  for (const bool bidirectional : {false, true}) {
    TypeParam recurrent(this->options(bidirectional));
    recurrent.to(DType::f64);
    const Variable x = f64_leaf({2, 3, kInputs});
    expect_gradients(recurrent, {x}, [&] { return all_of(recurrent(x, ids({3, 1}))); });
  }
}

TYPED_TEST(Recurrent, padding_gets_no_gradient) {
  for (const bool bidirectional : {false, true}) {
    TypeParam recurrent(this->options(bidirectional));
    const Variable x(some_input(), true);
    Variable total = scalar(0);
    for (const Variable& y : all_of(recurrent(x, ids({2, 5, 0})))) total += y.sum();
    total.backward();
    const Tensor grad = x.grad().data();
    EXPECT_TRUE(close(grad.select(0, 0).slice(0, 2, 5), zeros({3, kInputs}), kExact));
    EXPECT_FALSE(close(grad.select(0, 0).slice(0, 1, 2), zeros({1, kInputs}), {.absolute = 1e-4}));
    EXPECT_TRUE(close(grad.select(0, 2), zeros({kLength, kInputs}), kExact));
    expect_finite_grads(recurrent);
  }
}

TYPED_TEST(Recurrent, one_step_at_a_time_equals_the_whole) {
  TypeParam recurrent(this->options(false));
  const Variable x(some_input());
  const Variables whole = all_of(recurrent(x));
  auto state = recurrent.zero_state(kBatch);
  for (int64_t t = 0; t < kLength; ++t)
    EXPECT_TRUE(close(recurrent.step(x.select(1, t), state).data(), whole[0].data().select(1, t), kF32)) << t;
  const Variables last = joined(state);
  for (size_t i = 0; i < last.size(); ++i) EXPECT_TRUE(close(last[i].data(), whole[i + 1].data(), kF32));
}

TYPED_TEST(Recurrent, has_defined_results_where_there_is_nothing) {
  TypeParam both(this->options(true));
  const auto empty = both(zeros({2, 0, kInputs}), ids({0, 0}));
  EXPECT_EQ(empty.output.shape(), Shape({2, 0, 2 * kHidden}));
  EXPECT_TRUE(close(joined(empty.state)[0].data(), zeros({4, 2, kHidden}), kExact));
  EXPECT_EQ(both(zeros({0, 4, kInputs})).output.shape(), Shape({0, 4, 2 * kHidden}));
  const auto nobody = both(some_input(), ids({0, 0, 0}));
  EXPECT_TRUE(close(nobody.output.data(), zeros({kBatch, kLength, 2 * kHidden}), kExact));
}

TYPED_TEST(Recurrent, dropout_is_between_layers_only) {
  auto options = this->options(true);
  options.dropout = 0.5;
  TypeParam two(options);
  options.layers = 1;
  TypeParam one(options);
  const Tensor x = some_input();
  EXPECT_TRUE(identical(one(x).output.data(), one(x).output.data()));
  EXPECT_FALSE(identical(two(x).output.data(), two(x).output.data()));
  two.eval();
  EXPECT_TRUE(identical(two(x).output.data(), two(x).output.data()));
}

TYPED_TEST(Recurrent, names_itself_and_what_does_not_fit) {
  using Cell =
      std::conditional_t<std::is_same_v<TypeParam, nn::GRU>, nn::GRUCell,
                         std::conditional_t<std::is_same_v<TypeParam, nn::RNN>, nn::RNNCell, nn::LSTMCell>>;
  const std::string name = fmt::format("[{}] ", Cell::kName);
  expect_error<ValueError>([] { TypeParam({.inputs = 2, .hidden = 3, .layers = 0}); },
                           name + "wanted 1 layer or more, came 0");
  expect_error<ValueError>([] { TypeParam({.inputs = 2}); },
                           name + "wanted 1 input and hidden unit or more, came 2 and 0");
  TypeParam both(this->options(true));
  const Tensor x = some_input();
  expect_error<ShapeError>([&] { both(ones({2, 4})); }, name + "wanted x (batch, length, 4), came (2, 4)");
  expect_error<ShapeError>([&] { both(x, ids({1, 2})); }, name + "wanted lengths i64(3,), came i64(2,)");
  expect_error<IndexError>([&] { both(x, ids({1, 6, 2})); }, name + "wanted lengths in [0, 5], came 6");
  auto state = both.zero_state(2);
  expect_error<ShapeError>([&] { both(x, Tensor(), state); }, name + "wanted states (3, 3), came (2, 3)");
  state.pop_back();
  expect_error<ValueError>([&] { both(x, Tensor(), state); },
                           name + "wanted a state for each of 2 layers and 2 directions, came 3");
  expect_error<ValueError>([&] { both.step(x.select(1, 0), state); },
                           name + "wanted one direction to go step by step, came a bidirectional stack");
}

TEST(LSTM, wants_output_and_memory_of_one_shape) {
  nn::LSTM lstm({.inputs = 2, .hidden = 3});
  const std::vector<nn::LSTMState> state{{zeros({1, 3}), zeros({1, 1})}};
  expect_error<ShapeError>(
      [&] {
        lstm(zeros({1, 2, 2}), Tensor(), state);
      },
      "[LSTM] wanted states (1, 3), came (1, 3) and (1, 1)");
}
