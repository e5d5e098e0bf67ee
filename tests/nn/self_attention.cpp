#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/additive_self_attention.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// Self-attention by either score, for a whole sequence and for one place of it.
namespace {

class SelfAttentions : public testing::Test {
 protected:
  void SetUp() override {
    dot.to(DType::f64);
    additive.to(DType::f64);
  }
  /// check(layer) for both.
  template <class Check>
  void each(Check&& check) {
    check(dot);
    check(additive);
  }

  nn::SelfAttention dot{{.width = 6, .head_width = 4}};
  nn::AdditiveSelfAttention additive{{.width = 6, .head_width = 4, .hidden = 3}};
  Variable x = f64_leaf({2, 5, 6});
};

TEST_F(SelfAttentions, by_the_additive_score_is_its_formula) {
  const auto state = additive.state_dict();
  const Variable q = linear(x, state.at("attention.q_proj.weight")).unsqueeze(2);  // (2, 5, 1, 3)
  const Variable k = linear(x, state.at("attention.k_proj.weight")).unsqueeze(1);  // (2, 1, 5, 3)
  const Variable v = linear(x, state.at("v_proj.weight"));
  const Variable weights = (tanh(q + k) * state.at("attention.w_v")).sum({-1}).softmax(-1);
  EXPECT_TRUE(close(additive(x).data(), matmul(weights, v).data(), kF64));
  EXPECT_TRUE(close(additive.attend(x).output.data(), matmul(weights, v).data(), kF64));
  EXPECT_TRUE(close(additive.attend(x).weights.data(), weights.data(), kF64));
}

TEST_F(SelfAttentions, one_output_is_that_of_the_whole_sequence) {
  const Mask lengths = Mask::valid_lengths(ids({4, 2}));
  each([&](auto& layer) {
    const Tensor whole = layer(x).data(), shorter = layer(x, lengths).data(),
                 causal = layer(x, Mask::causal_order()).data();
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_TRUE(close(layer.output_at(x, i).data(), whole.select(1, i), kF64)) << i;
      EXPECT_TRUE(close(layer.output_at(x, i, lengths).data(), shorter.select(1, i), kF64)) << i;
      // What the query at place i sees of the past.
      const Mask past = Mask::valid_lengths(full({2}, static_cast<double>(i + 1), DType::i64));
      EXPECT_TRUE(close(layer.output_at(x, i, past).data(), causal.select(1, i), kF64)) << i;
    }
    EXPECT_TRUE(identical(layer.output_at(x, -1).data(), layer.output_at(x, 4).data()));
    expect_error<IndexError>([&] { layer.output_at(x, 5); }, "[select] index 5 is outside axis 1");
  });
}

TEST_F(SelfAttentions, moves_with_its_input_and_sees_no_padding) {
  const std::vector<int64_t> order{3, 0, 4, 1, 2};
  each([&](auto& layer) {
    const Tensor moved = reordered(x.data(), 1, order);
    EXPECT_TRUE(close(layer(moved).data(), reordered(layer(x).data(), 1, order), kF64));
    const Mask mask = Mask::valid_lengths(ids({3, 3}));
    const Tensor other = filled(x.data(), 1, 3, 5, 100);
    EXPECT_TRUE(identical(layer(other, mask).data().slice(1, 0, 3).clone(),
                          layer(x, mask).data().slice(1, 0, 3).clone()));
  });
}

TEST_F(SelfAttentions, of_a_sample_that_sees_nothing_is_zero_with_finite_gradients) {
  const Mask mask = Mask::valid_lengths(ids({0, 5}));
  each([&](auto& layer) {
    x.zero_grad(), layer.zero_grad();
    const Variable output = layer(x, mask);
    EXPECT_TRUE(identical(output.data().select(0, 0).clone(), zeros({5, 4}, DType::f64)));
    output.sum().backward();
    EXPECT_TRUE(identical(x.grad().data().select(0, 0).clone(), zeros({5, 6}, DType::f64)));
    expect_finite_grads(layer);
  });
}

TEST_F(SelfAttentions, have_gradients_that_differences_confirm) {
  const Mask mask = Mask::valid_lengths(ids({4, 2}));
  each([&](auto& layer) {
    expect_gradients(layer, {x}, [&] { return Variables{layer(x, mask), layer.output_at(x, 1, mask)}; });
    const auto report = gradgradcheck(
        [&](std::span<const Variable> at) {
          return Variables{layer(at[0], mask), layer.output_at(at[0], 1)};
        },
        std::span(&x, 1));
    EXPECT_TRUE(report) << report.failure;
  });
}

TEST(AdditiveSelfAttention, names_what_does_not_fit) {
  nn::AdditiveSelfAttention layer({.width = 6, .head_width = 4, .hidden = 3});
  expect_error<ShapeError>([&] { layer(ones({5, 6})); }, "[AdditiveAttention] wanted (batch, length, width)");
  expect_error<ValueError>([] { nn::AdditiveSelfAttention({.width = 6, .head_width = 0, .hidden = 3}); },
                           "[Linear] wanted 1 input and output or more, came 6 and 0");
}

}  // namespace
