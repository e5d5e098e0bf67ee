#include <heed/nn/mask.h>

#include <limits>

#include <heed/nn/attention.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor bools(const NestedList& values) { return tensor_of(values, DType::boolean); }

/// Softmax of the scores (batch, queries, keys) under a mask, by attention itself: each key is a unit vector.
Tensor weights_of(const Tensor& scores, const Mask& mask) {
  nn::DotProductAttention attention({.scaled = false});
  const int64_t batch = scores.size(0), keys = scores.size(2);
  const Tensor unit = eye(keys, keys, scores.dtype()).unsqueeze(0).expand({batch, keys, keys});
  return attention.attend(scores, unit, unit, mask).weights.data();
}

/// Ones where a query sees a key, from its weights on equal scores: (queries, keys) of the only sample.
Tensor seen(int64_t queries, int64_t keys, const Mask& mask) {
  Tensor weights = weights_of(zeros({1, queries, keys}), mask).select(0, 0).clone();
  for (float& w : weights.mutable_span<float>()) w = w > 0 ? 1.f : 0.f;
  return weights;
}

}  // namespace

TEST(Mask, hides_nothing_when_empty) { EXPECT_TRUE(close(seen(2, 3, {}), ones({2, 3}), kExact)); }

TEST(Mask, lengths_count_the_keys_of_a_sample_or_of_a_query) {
  EXPECT_TRUE(close(seen(2, 3, Mask::valid_lengths(ids({2}))), {1, 1, 0, 1, 1, 0}, kExact));
  EXPECT_TRUE(close(seen(2, 3, Mask::valid_lengths(ids({{1, 3}}))), {1, 0, 0, 1, 1, 1}, kExact));
}

TEST(Mask, causal_order_is_aligned_to_the_end) {
  EXPECT_TRUE(close(seen(3, 3, Mask::causal_order()), {1, 0, 0, 1, 1, 0, 1, 1, 1}, kExact));
  EXPECT_TRUE(close(seen(2, 4, Mask::causal_order()), {1, 1, 1, 0, 1, 1, 1, 1}, kExact));
  EXPECT_TRUE(close(seen(3, 2, Mask::causal_order()), {0, 0, 1, 0, 1, 1}, kExact));
}

TEST(Mask, parts_must_agree) {
  const Mask both = Mask::valid_lengths(ids({2})) & Mask::causal_order();
  EXPECT_TRUE(close(seen(3, 3, both), {1, 0, 0, 1, 1, 0, 1, 1, 0}, kExact));
  const Mask all = Mask::valid_keys(bools({{0, 1, 1}})) & both;
  EXPECT_TRUE(close(seen(3, 3, all), {0, 0, 0, 0, 1, 0, 0, 1, 0}, kExact));
  const Mask pairs = all & Mask::valid_pairs(bools({{1, 1, 1}, {1, 0, 1}, {1, 1, 1}}));
  EXPECT_TRUE(close(seen(3, 3, pairs), {0, 0, 0, 0, 0, 0, 0, 1, 0}, kExact));
}

TEST(Mask, all_ways_to_say_the_same_give_the_same_bits) {
  const Tensor scores = random_tensor({2, 3, 4});
  const Tensor wanted = weights_of(scores, Mask::valid_lengths(ids({3, 2})));
  const Tensor keys = bools({{1, 1, 1, 0}, {1, 1, 0, 0}});
  const Tensor pairs = keys.unsqueeze(1).expand({2, 3, 4});
  Tensor bias = zeros({2, 3, 4});
  bias.slice(2, 3, 4).fill(-kInfinity);
  bias.select(0, 1).slice(1, 2, 4).fill(-kInfinity);
  for (const Mask& mask :
       {Mask::valid_lengths(ids({{3, 3, 3}, {2, 2, 2}})), Mask::valid_keys(keys), Mask::valid_pairs(pairs),
        Mask::valid_pairs(pairs.unsqueeze(1)), Mask::additive(bias), Mask::additive(bias.unsqueeze(1))})
    EXPECT_TRUE(identical(weights_of(scores, mask), wanted));
  const Tensor square = bools({{1, 1, 0, 1}, {1, 0, 1, 0}, {0, 1, 1, 1}});
  EXPECT_TRUE(
      identical(weights_of(scores, Mask::valid_pairs(square)),
                weights_of(scores, Mask::valid_pairs(square.unsqueeze(0).expand({2, 3, 4}).clone()))));
}

TEST(Mask, an_additive_part_is_added_to_the_scores) {
  const Tensor z = tensor_of({{{1, 2, 3}}});
  EXPECT_TRUE(close(weights_of(z, Mask::additive(tensor_of({{0, 0, -kInfinity}}))),
                    {0.2689414214, 0.7310585786, 0}, kF32));
  EXPECT_TRUE(
      close(weights_of(z, Mask::additive(tensor_of({{0, 0, -1e9}}))), {0.2689414214, 0.7310585786, 0}, kF32));
  EXPECT_TRUE(close(weights_of(z, Mask::additive(tensor_of({{1, 0, -1}}))), {1 / 3., 1 / 3., 1 / 3.}, kF32));
}

TEST(Mask, may_differ_between_heads) {
  nn::MultiHeadAttention attention({.width = 4, .heads = 2});
  const Variable x(random_tensor({1, 3, 4}));
  const Tensor keep = bools({{{{1, 0, 1}}, {{0, 1, 1}}}});  // (1, 2 heads, 1, 3)
  const Tensor weights =
      attention.attend_with_weights(x, attention.project(x, x), Mask::valid_pairs(keep)).weights.data();
  for (int64_t q = 0; q < 3; ++q) {
    EXPECT_EQ(get(weights, {0, 0, q, 1}), 0);
    EXPECT_GT(get(weights, {0, 0, q, 0}), 0);
    EXPECT_EQ(get(weights, {0, 1, q, 0}), 0);
    EXPECT_GT(get(weights, {0, 1, q, 1}), 0);
  }
}

TEST(Mask, names_what_it_cannot_take) {
  expect_error<DTypeError>([] { Mask::valid_lengths(ones({2})); },
                           "[valid_lengths] wanted i64, came f32(2,)");
  expect_error<ShapeError>(
      [] {
        Mask::valid_lengths(zeros({1, 2, 3}, DType::i64));
      },
      "[valid_lengths] wanted (batch) or (batch, queries), came (1, 2, 3)");
  expect_error<DTypeError>(
      [] {
        Mask::valid_keys(ones({2, 3}));
      },
      "[valid_keys] wanted bool, came f32(2, 3)");
  expect_error<ShapeError>(
      [] {
        Mask::valid_keys(bools({1, 0}));
      },
      "[valid_keys] wanted (batch, keys), came (2,)");
  expect_error<DTypeError>(
      [] {
        Mask::valid_pairs(ids({{1, 2}}));
      },
      "[valid_pairs] wanted bool, came i64(1, 2)");
  expect_error<ShapeError>(
      [] {
        Mask::valid_pairs(bools({1, 0}));
      },
      "[valid_pairs] wanted (queries, keys), (batch, queries, keys) or (batch, heads, "
      "queries, keys), came (2,)");
  expect_error<DTypeError>([] { Mask::additive(ids({{1, 2}})); }, "[additive] wanted floats, came i64(1, 2)");
  expect_error<ShapeError>([] { Mask::additive(ones({3})); }, "[additive] wanted (queries, keys)");
  const Mask lengths = Mask::valid_lengths(ids({1}));
  expect_error<ValueError>([&] { lengths& lengths; },
                           "[mask] wanted lengths and an additive part at most once each, came twice");
}

TEST(Mask, names_what_does_not_fit_the_scores) {
  const Tensor scores = zeros({2, 3, 4});
  expect_error<ShapeError>(
      [&] {
        weights_of(scores, Mask::valid_lengths(ids({1, 2, 3})));
      },
      "wanted lengths (2,) or (2, 3), came (3,)");
  expect_error<IndexError>(
      [&] {
        weights_of(scores, Mask::valid_lengths(ids({1, 5})));
      },
      "wanted lengths in [0, 4], came 5");
  expect_error<IndexError>(
      [&] {
        weights_of(scores, Mask::valid_lengths(ids({-1, 4})));
      },
      "wanted lengths in [0, 4], came -1");
  expect_error<ShapeError>(
      [&] {
        weights_of(scores, Mask::valid_keys(bools({{1, 0, 1}, {1, 0, 1}})));
      },
      "wanted a mask for (batch, heads, queries, keys) (2, 1, 3, 4)");
}

// Sample 1 sees nothing, whichever way that is said; sample 0 sees all.
TEST(case_C01, every_way_to_hide_a_row_gives_zeros_in_every_attention) {
  Tensor bias = zeros({2, 1, 1, 3}), pairs = ones({2, 2, 3}, DType::boolean);
  bias.select(0, 1).fill(-kInfinity);
  pairs.select(0, 1).fill(0);
  const std::vector<Mask> masks{
      Mask::valid_lengths(ids({3, 0})),
      Mask::valid_lengths(ids({{3, 3}, {0, 0}})),
      Mask::valid_keys(bools({{1, 1, 1}, {0, 0, 0}})),
      Mask::valid_pairs(pairs),
      Mask::additive(bias),
      Mask::additive(bias) & Mask::valid_lengths(ids({3, 0})),
      Mask::valid_lengths(ids({3, 1})) & Mask::valid_keys(bools({{1, 1, 1}, {0, 1, 1}}))};
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 3});
  nn::AttentionPooling<nn::DotScore> pooling;
  nn::MultiHeadAttention heads({.width = 4, .heads = 2, .bias = false});
  const auto check = [&](auto& attention, size_t way) {
    const Variable q(random_tensor({2, 2, 4}, 1), true), k(random_tensor({2, 3, 4}, 2), true),
        v(random_tensor({2, 3, 4}, 3), true);
    const Variable output = attention(q, k, v, masks[way]);
    EXPECT_TRUE(identical(output.data().select(0, 1).clone(), zeros({2, 4}))) << way;
    EXPECT_TRUE(close(output.data().select(0, 0), attention(q, k, v).data().select(0, 0), kF32)) << way;
    output.backward(random_tensor({2, 2, 4}, 4));
    for (const Variable& x : {q, k, v}) {
      const Tensor grad = x.grad().data();
      EXPECT_TRUE(close(grad.select(0, 1), zeros(grad.select(0, 1).shape()), kExact)) << way;
      EXPECT_TRUE(kernels::all_finite(grad)) << way;
    }
    expect_finite_grads(attention);
  };
  for (size_t way = 0; way < masks.size(); ++way) {
    check(dot, way);
    check(additive, way);
    check(pooling, way);
    check(heads, way);
  }
}

TEST(case_C01, a_query_before_all_keys_in_causal_order_gives_zeros) {
  const Variable q(random_tensor({1, 3, 4}, 1), true), k(random_tensor({1, 2, 4}, 2), true);
  nn::DotProductAttention dot;
  const Variable output = dot(q, k, k, Mask::causal_order());
  EXPECT_TRUE(identical(output.data().select(1, 0).clone(), zeros({1, 4})));
  output.sum().backward();
  EXPECT_TRUE(close(q.grad().data().select(1, 0), zeros({1, 4}), kExact));
  EXPECT_TRUE(kernels::all_finite(k.grad().data()));
}

TEST(case_C03, a_a_huge_negative_score_does_not_lose_to_a_hidden_key) {
  const Tensor scores = tensor_of({{{-2000000, 3}}});
  for (const Mask& mask : {Mask::valid_lengths(ids({1})), Mask::valid_keys(bools({{1, 0}})),
                           Mask::additive(tensor_of({{0, -kInfinity}}))})
    EXPECT_TRUE(close(weights_of(scores, mask), {1, 0}, kExact));
}

TEST(case_C03, b_hidden_twice_is_hidden) {
  // The first query sees by causal order only key 0, which is padding.
  const Mask mask = Mask::valid_keys(bools({{0, 1}})) & Mask::causal_order();
  EXPECT_TRUE(close(weights_of(tensor_of({{{0.5, 1.5}, {0.5, 1.5}}}), mask), {0, 0, 0, 1}, kExact));
}

TEST(case_C03, c_kept_entries_stay_numbers) {
  EXPECT_TRUE(close(weights_of(tensor_of({{{2, 1, 0}}}), Mask::valid_keys(bools({{1, 1, 0}}))),
                    {0.73105858, 0.26894142, 0}, kF32));
}

TEST(case_C05, a_every_head_has_its_own_samples_lengths) {
  nn::MultiHeadAttention attention({.width = 2, .heads = 2, .bias = false});
  const Tensor none = zeros({2, 2}), unit = eye(2, 2);
  attention.load_state_dict(
      {{"q_proj.weight", none}, {"k_proj.weight", none}, {"v_proj.weight", unit}, {"out_proj.weight", unit}});
  const Tensor v = tensor_of({{{10, 10}, {20, 20}}, {{30, 30}, {50, 50}}}), q = zeros({2, 1, 2});
  const Tensor lengths = ids({1, 2});
  EXPECT_TRUE(close(attention(q, v, v, Mask::valid_lengths(lengths)).data(), {10, 10, 40, 40}, kF32));
  for (int64_t b = 0; b < 2; ++b) {
    const auto one = [&](const Tensor& x) { return x.slice(0, b, b + 1); };
    const Tensor alone = attention(one(q), one(v), one(v), Mask::valid_lengths(one(lengths))).data();
    EXPECT_TRUE(close(alone, full({1, 1, 2}, b == 0 ? 10 : 40), kF32));
  }
}

TEST(case_C05, b_a_key_mask_is_by_sample_also_where_batch_equals_length) {
  nn::DotProductAttention attention;
  const Tensor v = tensor_of({{{1}, {3}}, {{1}, {3}}}), q = zeros({2, 2, 1});
  const Mask mask = Mask::valid_keys(bools({{1, 0}, {1, 1}}));
  EXPECT_TRUE(close(attention(q, q, v, mask).data(), {1, 1, 2, 2}, kF32));
}

TEST(case_C05, c_padding_is_hidden_from_every_query) {
  const Tensor padded = bools({{1, 1, 0, 0}});
  const Tensor weights = weights_of(zeros({1, 4, 4}), Mask::valid_keys(padded));
  for (int64_t q = 0; q < 4; ++q)
    EXPECT_TRUE(close(weights.select(0, 0).select(0, q), {0.5, 0.5, 0, 0}, kF32));
}

TEST(case_C05, d_true_keeps_in_every_entry_point) {
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = 1, .key_width = 1, .hidden = 1});
  nn::MultiHeadAttention heads({.width = 1, .bias = false});
  heads.load_state_dict({{"q_proj.weight", ones({1, 1})},
                         {"k_proj.weight", ones({1, 1})},
                         {"v_proj.weight", ones({1, 1})},
                         {"out_proj.weight", ones({1, 1})}});
  const Tensor q = zeros({1, 1, 1}), v = tensor_of({{{10}, {20}}});
  for (const Mask& mask : {Mask::valid_keys(bools({{1, 0}})), Mask::valid_pairs(bools({{1, 0}}))}) {
    EXPECT_TRUE(close(dot(q, v, v, mask).data(), {10}, kF32));
    EXPECT_TRUE(close(additive(q, v, v, mask).data(), {10}, kF32));
    EXPECT_TRUE(close(heads(q, v, v, mask).data(), {10}, kF32));
  }
}
