#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

using kernels::Mask;

/// exp(x) / sum(exp(x))
Variable softmax_of(const Variable& x, int64_t axis) {
  const Variable parts = exp(x);
  return parts / sum(parts, {axis}, true);
}

/// Softmax of what `keep` (1 or 0, of the scores' shape) lets through; rows that see nothing are zeros.
Variable softmax_where(const Variable& x, const Tensor& keep) {
  const Variable parts = exp(x) * keep.to(x.dtype());
  return parts / (sum(parts, {-1}, true) + 1e-300);
}

/// 1 where key < length, else 0: lengths (batch) for scores (batch, queries, keys).
Tensor keep_below(const Tensor& lengths, const Shape& scores) {
  Tensor keep = zeros(scores, DType::f64);
  for (int64_t b = 0; b < scores[0]; ++b)
    keep.select(0, b).slice(-1, 0, static_cast<int64_t>(lengths.at({b}))).fill(1);
  return keep;
}

OpFunction softmax_along(int64_t axis) {
  return [axis](In x, Args) { return Variables{x[0].softmax(axis)}; };
}

OpFunction log_softmax_along(int64_t axis) {
  return [axis](In x, Args) { return Variables{log_softmax(x[0], axis)}; };
}

std::vector<OpCase> plain_cases() {
  const std::vector<Variant> small{{{{1}}}, {{{0}}}, {{{3, 1}}}, {{{3, 0}}}, {{{0, 3}}}};
  const std::vector<Variant> flat{{{{1, 1}}}, {{{2, 0, 3}}}};
  std::vector<OpCase> result;
  for (const auto& [name, axis, shapes] :
       {std::tuple("last", -1, small), std::tuple("first", 0, small), std::tuple("middle", 1, flat)}) {
    result.push_back({fmt::format("softmax_{}", name),
                      softmax_along(axis),
                      [axis](In x, Args) { return Variables{softmax_of(x[0], axis)}; },
                      shapes,
                      {{{{3, 67, 5}}}}});
    result.push_back({fmt::format("log_softmax_{}", name),
                      log_softmax_along(axis),
                      [axis](In x, Args) { return Variables{log(softmax_of(x[0], axis))}; },
                      shapes,
                      {{{{3, 67, 5}}}}});
  }
  return result;
}

std::vector<OpCase> masked_cases() {
  const OpFunction by_lengths = [](In x, Args a) {
    return Variables{masked_softmax(x[0], Mask::valid_lengths(a[0]))};
  };
  return {
      timed({"masked_softmax_lengths",
             by_lengths,
             [](In x, Args a) { return Variables{softmax_where(x[0], keep_below(a[0], x[0].shape()))}; },
             {{{{1, 1, 1}}, {zeros({1}, DType::i64)}},
              {{{1, 1, 1}}, {ones({1}, DType::i64)}},
              {{{2, 0, 3}}, {ones({2}, DType::i64)}},
              {{{2, 3, 0}}, {zeros({2}, DType::i64)}},
              {{{0, 2, 3}}, {zeros({0}, DType::i64)}}},
             {{{{5, 2, 67}}, {tensor_of({67, 66, 33, 16, 0}, DType::i64)}}}},
            {{{64, 32, 128}}, {{{64}, 129}}}),
      timed({"masked_softmax_lengths_by_query", by_lengths}, {{{64, 32, 128}}, {{{64, 32}, 129}}}),
      timed({"masked_softmax_keys",
             [](In x, Args a) { return Variables{masked_softmax(x[0], Mask::valid_keys(a[0]))}; }},
            {{{64, 32, 128}}, {{{64, 128}, 2, DType::boolean}}}),
      timed({"masked_softmax_pairs",
             [](In x, Args a) { return Variables{masked_softmax(x[0], Mask::valid_pairs(a[0]))}; }},
            {{{64, 32, 128}}, {{{64, 32, 128}, 2, DType::boolean}}}),
      {"masked_softmax_causal",
       [](In x, Args) { return Variables{masked_softmax(x[0], Mask::causal_order())}; },
       nullptr,
       {{{{1, 1, 1, 1}}}, {{{1, 1, 3, 1}}}, {{{1, 2, 0, 2}}}}},
      timed({"masked_softmax_additive",
             [](In x, Args a) { return Variables{masked_softmax(x[0], Mask::additive(a[0]))}; }},
            {{{64, 32, 128}}, {{{32, 128}, 2, DType::f64}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(softmax, OpTest, op_cases(plain_cases(), {{{64, 128, 128}}}), case_name);
INSTANTIATE_TEST_SUITE_P(masked_softmax, OpTest, op_cases(masked_cases(), {{{64, 32, 128}}}), case_name);

TEST(softmax, large_scores_do_not_overflow) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Variable x = tensor_of({{1e30, 1e30}, {-1e30, 0}}, dtype);
    EXPECT_TRUE(close(softmax(x, -1).data(), {0.5, 0.5, 0, 1}, kExact));
  }
}

TEST(softmax, axes_and_ranks_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3});
  expect_error<IndexError>([&] { return softmax(x, 2); }, "[softmax] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { return log_softmax(x, -3); },
                           "[log_softmax] wanted an axis in [-2, 2), came -3");
  expect_error<ShapeError>([&] { return masked_softmax(x, {}); },
                           "[masked_softmax] wanted (batch, queries, keys)");
  expect_error<DTypeError>([] { return softmax(zeros({2}, DType::i64), 0); }, "[softmax] wanted f32 or f64");
}

TEST(softmax, masks_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3, 4});
  const auto masked = [&](const Mask& mask) { return [&x, mask] { return masked_softmax(x, mask); }; };
  expect_error<ShapeError>(masked(Mask::valid_lengths(zeros({3}, DType::i64))),
                           "[masked_softmax] wanted lengths (2,) or (2, 3), came (3,)");
  expect_error<IndexError>(masked(Mask::valid_lengths(tensor_of({5, 1}, DType::i64))),
                           "[masked_softmax] wanted lengths in [0, 4], came 5");
  expect_error<IndexError>(masked(Mask::valid_lengths(tensor_of({1, -1}, DType::i64))),
                           "[masked_softmax] wanted lengths in [0, 4], came -1");
  expect_error<ShapeError>(masked(Mask::valid_keys(ones({2, 3}, DType::boolean))), "(2, 1, 1, 3)");
  expect_error<ShapeError>(masked(Mask::additive(zeros({5, 4}))), "(1, 1, 5, 4)");
  expect_error<DTypeError>(
      [] {
        return Mask::valid_keys(zeros({2, 4}));
      },
      "[valid_keys] wanted bool, came f32(2, 4)");
  expect_error<ValueError>(
      [] {
        return Mask::valid_lengths(zeros({1}, DType::i64)) & Mask::valid_lengths(zeros({1}, DType::i64));
      },
      "at most once");
}

TEST(softmax, every_part_of_a_mask_must_agree) {
  const Variable x = zeros({1, 2, 4});
  const Mask mask = Mask::valid_lengths(tensor_of({3}, DType::i64)) &
                    Mask::valid_keys(tensor_of({{0, 1, 1, 1}}, DType::boolean)) &
                    Mask::valid_pairs(tensor_of({{1, 1, 1, 1}, {1, 1, 0, 1}}, DType::boolean));
  EXPECT_TRUE(close(masked_softmax(x, mask).data(), {0, 0.5, 0.5, 0, 0, 1, 0, 0}, kExact));
}

TEST(case_C01, a_row_that_sees_nothing_has_weight_and_gradient_zero) {
  const Variable scores(tensor_of({{{1, 2}}, {{3, 4}}}), true);
  const Variable weights = masked_softmax(scores, Mask::valid_lengths(tensor_of({2, 0}, DType::i64)));
  EXPECT_TRUE(close(weights.data(), {0.26894142, 0.73105858, 0, 0}, kF32));
  EXPECT_EQ(weights.data().at({1, 0, 0}), 0);
  EXPECT_EQ(weights.data().at({1, 0, 1}), 0);
  weights.backward(tensor_of({{{1, 0}}, {{1, 0}}}));
  EXPECT_TRUE(close(scores.grad().data(), {0.19661193, -0.19661193, 0, 0}, kF32));
}

TEST(case_C01, a_softmax_over_nothing_but_minus_infinity_is_zero) {
  const double hidden = -std::numeric_limits<double>::infinity();
  const Variable scores(tensor_of({{hidden, hidden}, {hidden, 1}}), true);
  const Variable weights = softmax(scores, -1);
  EXPECT_TRUE(close(weights.data(), {0, 0, 0, 1}, kExact));
  weights.backward(ones({2, 2}));
  EXPECT_TRUE(close(scores.grad().data(), {0, 0, 0, 0}, kExact));
}

TEST(case_C01, a_log_softmax_over_nothing_but_minus_infinity_is_that) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const Variable scores(tensor_of({{1, 2}, {3, 4}, {0, 1}}), true);
  const Tensor hidden = tensor_of({{1, 1}, {0, 0}, {1, 0}}, DType::boolean);
  const Variable logs = log_softmax(masked_fill(scores, hidden, kHidden), -1);
  EXPECT_TRUE(close(logs.data(), {kHidden, kHidden, -1.31326169, -0.31326169, kHidden, 0}, kF32));
  logs.backward(tensor_of({{1, 0}, {1, 0}, {1, 1}}));
  EXPECT_TRUE(close(scores.grad().data(), {0, 0, 0.73105858, -0.73105858, 0, -1}, kF32));
}

TEST(case_C03, a_hidden_score_cannot_win_however_low_the_others_are) {
  const Variable scores = tensor_of({{{-2000000, 3}}});
  const Variable weights = masked_softmax(scores, Mask::valid_lengths(tensor_of({1}, DType::i64)));
  EXPECT_TRUE(close(weights.data(), {1, 0}, kExact));
}

TEST(case_C03, two_masks_over_one_row_hide_it_all) {
  const double lowest = std::numeric_limits<float>::lowest(),
               hidden = -std::numeric_limits<double>::infinity();
  const Variable scores = tensor_of({{{0.5, 1.5}}});
  const Mask padding = Mask::valid_keys(tensor_of({{0, 0}}, DType::boolean));
  const Mask pairs = Mask::valid_pairs(tensor_of({{1, 0}}, DType::boolean));
  EXPECT_TRUE(close(masked_softmax(scores, padding & pairs).data(), {0, 0}, kExact));
  const Mask infinite = Mask::additive(tensor_of({{hidden, hidden}}));
  EXPECT_TRUE(close(masked_softmax(scores, infinite & pairs).data(), {0, 0}, kExact));
  const Mask finite = Mask::additive(tensor_of({{lowest, lowest}}));
  EXPECT_TRUE(close(masked_softmax(scores, finite & padding).data(), {0, 0}, kExact));
}

TEST(case_C03, kept_scores_are_untouched_by_the_mask) {
  const Variable scores = tensor_of({{{2, 1, 0}}});
  const Variable weights = masked_softmax(scores, Mask::valid_keys(tensor_of({{1, 1, 0}}, DType::boolean)));
  EXPECT_TRUE(close(weights.data(), {0.73105858, 0.26894142, 0}, kF32));
  EXPECT_EQ(weights.data().at({0, 0, 2}), 0);
}

TEST(case_C03, what_is_hidden_may_be_nan) {
  const Variable scores(tensor_of({{{1, std::numeric_limits<double>::quiet_NaN(), 1}}}), true);
  const Variable weights = masked_softmax(scores, Mask::valid_keys(tensor_of({{1, 0, 1}}, DType::boolean)));
  weights.backward(tensor_of({{{1, 0, 0}}}));
  EXPECT_TRUE(close(weights.data(), {0.5, 0, 0.5}, kExact));
  EXPECT_TRUE(close(scores.grad().data(), {0.25, 0, -0.25}, kExact));
}

}  // namespace
}  // namespace heed::test
