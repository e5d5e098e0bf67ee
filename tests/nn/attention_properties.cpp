#include <heed/nn/attention.h>

#include <cmath>

#include <heed/autograd/ops/reduce.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// What holds for every attention.
namespace {

const std::vector<int64_t> kOrder{3, 0, 4, 1, 2};

/// Rows of a (batch, queries, keys) or (batch, heads, queries, keys) array of weights must add up to 1.
void expect_rows_of_one(const Tensor& weights) {
  const Tensor sums = Variable(weights).sum({-1}).data();
  EXPECT_TRUE(close(sums, ones(sums.shape()), kF32));
}

}  // namespace

TEST(Attention, the_order_of_keys_with_their_values_changes_nothing) {
  const Tensor q = random_tensor({2, 3, 8}, 1), k = random_tensor({2, 5, 8}, 2),
               v = random_tensor({2, 5, 8}, 3), length = ids({5, 5});
  const Tensor moved_k = reordered(k, 1, kOrder), moved_v = reordered(v, 1, kOrder);
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = 8, .key_width = 8, .hidden = 4});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2});
  EXPECT_TRUE(close(dot(q, moved_k, moved_v).data(), dot(q, k, v).data(), kF32));
  EXPECT_TRUE(close(additive(q, moved_k, moved_v).data(), additive(q, k, v).data(), kF32));
  EXPECT_TRUE(close(heads(q, moved_k, moved_v).data(), heads(q, k, v).data(), kF32));
  // Values that stay where they are do change it.
  EXPECT_FALSE(close(heads(q, moved_k, v).data(), heads(q, k, v).data(), {.absolute = 1e-3}));
}

TEST(Attention, self_attention_moves_with_its_input) {
  const Tensor x = random_tensor({2, 5, 8});
  nn::SelfAttention single({.width = 8, .head_width = 3});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2});
  const Tensor moved = reordered(x, 1, kOrder);
  EXPECT_TRUE(close(single(moved).data(), reordered(single(x).data(), 1, kOrder), kF32));
  EXPECT_TRUE(close(heads(moved).data(), reordered(heads(x).data(), 1, kOrder), kF32));
  EXPECT_FALSE(close(heads(moved, Mask::causal_order()).data(),
                     reordered(heads(x, Mask::causal_order()).data(), 1, kOrder), {.absolute = 1e-3}));
}

TEST(Attention, padding_and_neighbours_change_nothing) {
  const Tensor q = random_tensor({3, 2, 8}, 1), k = random_tensor({3, 6, 8}, 2), lengths = ids({6, 1, 4});
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = 8, .key_width = 8, .hidden = 4});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2});
  const auto check = [&](auto& layer) {
    const Tensor whole = layer(q, k, k, Mask::valid_lengths(lengths)).data();
    for (int64_t b = 0; b < 3; ++b) {
      const auto length = static_cast<int64_t>(lengths.at({b}));
      const Tensor wanted = whole.slice(0, b, b + 1).clone();
      Tensor other = k.clone();
      for (int64_t n = 0; n < 3; ++n) other.select(0, n).slice(0, n == b ? length : 0, 6).fill(1000 + n);
      const Tensor beside = layer(q, other, other, Mask::valid_lengths(lengths)).data();
      EXPECT_TRUE(identical(beside.slice(0, b, b + 1).clone(), wanted)) << b;
      const Tensor alone = k.slice(0, b, b + 1).slice(1, 0, length);
      EXPECT_TRUE(close(layer(q.slice(0, b, b + 1), alone, alone).data(), wanted, {.absolute = 1e-6})) << b;
    }
  };
  check(dot);
  check(additive);
  check(heads);
}

TEST(Attention, weights_add_up_to_one) {
  const Variable q(random_tensor({2, 3, 8}, 1)), k(random_tensor({2, 5, 8}, 2));
  const Mask mask = Mask::valid_lengths(ids({5, 2}));
  nn::DotProductAttention dot;
  nn::SelfAttention single({.width = 8, .head_width = 3});
  nn::AdditiveAttention additive({.query_width = 8, .key_width = 8, .hidden = 4});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2});
  expect_rows_of_one(dot.attend(q, k, k, mask).weights.data());
  expect_rows_of_one(single.attend(k, mask).weights.data());
  expect_rows_of_one(additive.attend(q, additive.project_keys(k), k, mask).weights.data());
  const Tensor weights = heads.attend_with_weights(q, heads.project(k, k), mask).weights.data();
  EXPECT_EQ(weights.shape(), Shape({2, 2, 3, 5}));
  expect_rows_of_one(weights);
}

TEST(Attention, asking_for_weights_changes_no_bit) {
  const Variable q(random_tensor({2, 3, 8}, 1)), k(random_tensor({2, 50, 8}, 2));
  const Mask mask = Mask::valid_lengths(ids({50, 20}));
  nn::MultiHeadAttention heads({.width = 8, .heads = 2, .dropout = 0.3});
  nn::DotProductAttention dot({.dropout = 0.3});
  nn::SelfAttention single({.width = 8, .head_width = 3, .dropout = 0.3});
  for (const bool training : {true, false}) {
    heads.train(training), dot.train(training), single.train(training);
    const auto same = [](auto&& without, auto&& with) {
      manual_seed(9);
      const Tensor wanted = without().data();
      manual_seed(9);
      return identical(with().output.data(), wanted);
    };
    EXPECT_TRUE(same([&] { return heads(q, k, k, mask); },
                     [&] { return heads.attend_with_weights(q, heads.project(k, k), mask); }));
    EXPECT_TRUE(same([&] { return dot(q, k, k, mask); }, [&] { return dot.attend(q, k, k, mask); }));
    EXPECT_TRUE(same([&] { return single(k, mask); }, [&] { return single.attend(k, mask); }));
  }
}

TEST(Attention, dropout_takes_values_away_and_leaves_the_weights_that_are_shown) {
  const Variable x(random_tensor({2, 3, 8}, 1));
  nn::DotProductAttention dot({.dropout = 1});
  nn::SelfAttention single({.width = 8, .head_width = 3, .dropout = 1});
  nn::AdditiveAttention additive({.query_width = 8, .key_width = 8, .hidden = 4, .dropout = 1});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2, .dropout = 1, .bias = false});
  for (const auto& [output, weights] :
       {dot.attend(x, x, x), single.attend(x), additive.attend(x, additive.project_keys(x), x),
        heads.attend_with_weights(x, heads.project(x, x))}) {
    EXPECT_TRUE(close(output.data(), zeros(output.shape()), kExact));
    expect_rows_of_one(weights.data());
  }
}

TEST(Attention, dropout_keeps_the_mean) {
  manual_seed(6);
  nn::DotProductAttention attention({.dropout = 0.25});
  // 1000 queries on 50 keys alike: each output is the kept share of ones, 50000 draws in all.
  const Variable output = attention(zeros({1, 1000, 1}), zeros({1, 50, 1}), ones({1, 50, 1}));
  EXPECT_NEAR(output.mean().item(), 1, 0.015);
  EXPECT_FALSE(close(output.data(), ones({1, 1000, 1}), {.absolute = 1e-3}));
}

TEST(Attention, has_defined_results_where_there_is_nothing) {
  nn::DotProductAttention dot;
  nn::MultiHeadAttention heads({.width = 4, .heads = 2});
  EXPECT_TRUE(close(dot(ones({2, 3, 4}), ones({2, 0, 4}), ones({2, 0, 5})).data(), zeros({2, 3, 5}), kExact));
  EXPECT_EQ(heads(zeros({0, 3, 4})).shape(), Shape({0, 3, 4}));
  EXPECT_EQ(heads(zeros({2, 0, 4})).shape(), Shape({2, 0, 4}));
  // Of no width, all scores are 0.
  EXPECT_TRUE(close(dot(ones({1, 1, 0}), ones({1, 2, 0}), tensor_of({{{1}, {3}}})).data(), {2}, kF32));
}

TEST(DotProductAttention, the_variance_of_scaled_scores_is_1_and_of_others_their_width) {
  constexpr int64_t kSamples = 4000;
  for (const int64_t width : {4, 16, 64, 256, 1024}) {
    Generator generator(static_cast<uint64_t>(width));
    const Tensor q = rand_normal({kSamples, 1, width}, 0, 1, DType::f64, generator);
    const Tensor k = rand_normal({kSamples, 2, width}, 0, 1, DType::f64, generator);
    for (const bool scaled : {true, false}) {
      nn::DotProductAttention attention({.scaled = scaled});
      // Two scores of one query differ as their weights' logarithms do; the variance is that of both.
      const auto weights = attention.attend(q, k, k).weights.data().to_vector<double>();
      double variance = 0;
      for (size_t i = 0; i < kSamples; ++i)
        variance += std::pow(std::log(weights[2 * i] / weights[2 * i + 1]), 2) / (2 * kSamples);
      const double wanted = scaled ? 1 : static_cast<double>(width);
      EXPECT_NEAR(variance, wanted, 0.1 * wanted) << width;
    }
  }
}
