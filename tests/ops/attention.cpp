#include <cmath>
#include <limits>

#include <heed/tensor/compare.h>

#include "tests/ops/any_mask.h"
#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

using kernels::Mask;

/// What the options of a case are made of, from its masks.
using MakeOptions = std::function<AttentionOptions(Args)>;

OpCase attention_case(const std::string& name, bool weighted, const MakeOptions& options,
                      std::vector<Variant> small = {}) {
  const MakeOptions complete = [=](Args a) {
    AttentionOptions result = options(a);
    result.want_weights = weighted;
    return result;
  };
  return {
      name,
      [complete](In x, Args a) {
        const AttentionResult result = attention(x[0], x[1], x[2], complete(a));
        return result.weights.defined() ? Variables{result.output, result.weights} : Variables{result.output};
      },
      [complete, weighted](In x, Args a) {
        Variables all = attention_reference(x, complete(a));
        all.resize(weighted ? 2 : 1);
        return all;
      },
      std::move(small)};
}

AttentionOptions two_heads(const Mask& mask = {}) {
  return {.heads = 2, .scale = 1 / std::sqrt(2), .mask = mask};
}

std::vector<Variant> small_shapes() {
  return {{{{1, 1, 2}, {1, 1, 2}, {1, 1, 2}}}, {{{1, 2, 2}, {1, 3, 2}, {1, 3, 0}}},
          {{{1, 2, 0}, {1, 3, 0}, {1, 3, 2}}}, {{{0, 2, 2}, {0, 3, 2}, {0, 3, 2}}},
          {{{2, 0, 2}, {2, 3, 2}, {2, 3, 4}}}, {{{2, 3, 2}, {2, 0, 2}, {2, 0, 4}}}};
}

/// 64 samples of 32 queries and keys, two heads of 64.
BenchSize timed_size() { return {{{64, 32, 128}, {64, 32, 128}, {64, 32, 128}}}; }
OpCase timed_with(const Integers& arg, OpCase op) {
  return timed(std::move(op), {timed_size().shapes, {arg}});
}

std::vector<OpCase> cases() {
  const auto lengths = [](Args a) { return two_heads(Mask::valid_lengths(a[0])); };
  const auto causal = [](Args) { return two_heads(Mask::causal_order()); };
  std::vector<Variant> hidden{{{{1, 1, 2}, {1, 1, 2}, {1, 1, 2}}, {zeros({1}, DType::i64)}},
                              {{{2, 0, 2}, {2, 3, 2}, {2, 3, 4}}, {zeros({2}, DType::i64)}},
                              {{{2, 3, 2}, {2, 0, 2}, {2, 0, 4}}, {zeros({2}, DType::i64)}}};
  return {
      attention_case(
          "attention", false, [](Args) { return AttentionOptions{.scale = 0.5}; }, small_shapes()),
      attention_case(
          "attention_heads", false, [](Args) { return two_heads(); }, small_shapes()),
      attention_case(
          "attention_weights", true, [](Args) { return two_heads(); }, small_shapes()),
      timed_with({{64}, 33}, attention_case("attention_lengths", true, lengths, hidden)),
      attention_case("attention_causal", true, causal, small_shapes()),
      attention_case("attention_causal_longer_keys", false, causal),
      attention_case("attention_causal_longer_queries", false, causal),
      timed_with(
          {{64, 32}, 2, DType::boolean},
          attention_case("attention_keys", false, [](Args a) { return two_heads(Mask::valid_keys(a[0])); })),
      timed_with(
          {{64, 32, 32}, 2, DType::boolean},
          attention_case("attention_pairs", true, [](Args a) { return two_heads(Mask::valid_pairs(a[0])); })),
      timed_with(
          {{64}, 33},
          attention_case("attention_lengths_and_causal", false,
                         [](Args a) { return two_heads(Mask::valid_lengths(a[0]) & Mask::causal_order()); })),
      timed_with({{32, 32}, 2, DType::f64},
                 attention_case("attention_additive", false,
                                [](Args a) { return two_heads(Mask::additive(a[0])); })),
      timed_with({{64, 2, 32, 32}, 2, DType::boolean}, attention_case("attention_dropout", true,
                                                                      [](Args a) {
                                                                        AttentionOptions options =
                                                                            two_heads();
                                                                        options.dropout_keep = a[0];
                                                                        options.dropout = 0.25;
                                                                        return options;
                                                                      })),
      timed_with({{64}, 33}, attention_case("attention_self", true, lengths)),
      timed_with({{64}, 33}, attention_case("attention_many_queries", false, lengths)),
  };
}

INSTANTIATE_TEST_SUITE_P(attention, OpTest, op_cases(with_bf16(cases()), timed_size()), case_name);

std::vector<OpCase> weighted_sums() {
  const auto run = [](In x, Args) { return Variables{weighted_sum(x[0], x[1])}; };
  return {{"weighted_sum",
           run,
           nullptr,
           {{{{1, 1, 1}, {1, 1, 1}}}, {{{2, 3, 0}, {2, 0, 4}}}, {{{2, 0, 3}, {2, 3, 4}}}}},
          {"weighted_sum_heads", run, nullptr, {{{{2, 1, 3, 0}, {2, 1, 0, 4}}}}}};
}

INSTANTIATE_TEST_SUITE_P(weighted_sum, OpTest,
                         op_cases(with_bf16(weighted_sums()), {{{64, 2, 32, 32}, {64, 2, 32, 64}}}),
                         case_name);

/// Attention whose scores are all 0, so that each output is the mean of the values that are seen.
Tensor mean_of_seen(const Tensor& values, int64_t queries, const AttentionOptions& options) {
  const Shape& shape = values.shape();  // (batch, keys, heads)
  const Variable q = zeros({shape[0], queries, shape[2]}), k = zeros(shape);
  return attention(q, k, values, options).output.data();
}

TEST(case_C01, a_query_that_sees_nothing_gives_zeros_and_no_gradient) {
  // one query a sample; the keys are chosen so that the scores are 1, 2 and 3, 4
  const Variable q(ones({2, 1, 1}), true), v(tensor_of({{{1}, {2}}, {{1}, {2}}}), true);
  Variable k(tensor_of({{{1}, {2}}, {{3}, {4}}}), true);
  const AttentionResult result =
      attention(q, k, v, {.mask = Mask::valid_lengths(tensor_of({2, 0}, DType::i64)), .want_weights = true});
  EXPECT_TRUE(close(result.weights.data(), {0.26894142, 0.73105858, 0, 0}, kF32));
  EXPECT_EQ(result.output.data().at({1, 0, 0}), 0);
  result.output.backward(tensor_of({{{1}}, {{0}}}), {.retain_graph = true});
  EXPECT_TRUE(close(v.grad().data(), {0.26894142, 0.73105858, 0, 0}, kF32));
  k.zero_grad();
  result.weights.backward(tensor_of({{{1, 0}}, {{1, 0}}}).reshape({2, 1, 1, 2}));
  EXPECT_TRUE(close(k.grad().data(), {0.19661193, -0.19661193, 0, 0}, kF32));  // q is 1, so this is dScores
}

TEST(case_C05, lengths_belong_to_samples_and_not_to_heads) {
  const Tensor values = tensor_of({{{10, 10}, {20, 20}}, {{30, 30}, {50, 50}}});  // (batch, keys, heads)
  const Tensor lengths = tensor_of({1, 2}, DType::i64);
  EXPECT_TRUE(close(mean_of_seen(values, 1, {.heads = 2, .mask = Mask::valid_lengths(lengths)}),
                    {10, 10, 40, 40}, kExact));
  for (const int64_t sample : {0, 1}) {
    const Mask mask = Mask::valid_lengths(lengths.slice(0, sample, sample + 1));
    const double expected = sample == 0 ? 10 : 40;
    EXPECT_TRUE(close(mean_of_seen(values.slice(0, sample, sample + 1), 1, {.heads = 2, .mask = mask}),
                      {expected, expected}, kExact));
  }
}

TEST(case_C05, a_mask_of_keys_is_never_one_of_pairs) {
  const Tensor values = tensor_of({{{1}, {3}}, {{1}, {3}}});
  const Mask mask = Mask::valid_keys(tensor_of({{1, 0}, {1, 1}}, DType::boolean));
  EXPECT_TRUE(close(mean_of_seen(values, 2, {.mask = mask}), {1, 1, 2, 2}, kExact));
}

TEST(case_C05, padding_hides_keys_and_not_queries) {
  const Mask mask = Mask::valid_keys(tensor_of({{1, 1, 0, 0}}, DType::boolean));  // of ids 5, 7, 0, 0
  const AttentionResult result =
      attention(zeros({1, 4, 1}), zeros({1, 4, 1}), zeros({1, 4, 1}), {.mask = mask, .want_weights = true});
  for (const int64_t query : {0, 1, 2, 3})
    // not a list of doubles: GCC 12 with AVX-512 turns the constant {a, a, 0, 0} into {a, a, a, a}
    EXPECT_TRUE(close(result.weights.data().select(2, query), tensor_of({{{0.5, 0.5, 0, 0}}}), kExact));
}

TEST(case_C05, true_keeps_in_every_entry_point) {
  const Tensor values = tensor_of({{{10}, {20}}}), keep = tensor_of({{1, 0}}, DType::boolean);
  EXPECT_TRUE(close(mean_of_seen(values, 1, {.mask = Mask::valid_keys(keep)}), {10}, kExact));
  EXPECT_TRUE(close(mean_of_seen(values, 1, {.mask = Mask::valid_pairs(keep)}), {10}, kExact));
  EXPECT_TRUE(close(mean_of_seen(values, 1, {.mask = {.keep = keep.reshape({1, 1, 1, 2})}}), {10}, kExact));
  EXPECT_TRUE(close(masked_softmax(zeros({1, 1, 2}), Mask::valid_keys(keep)).data(), {1, 0}, kExact));
}

TEST(case_C11, one_variable_as_query_key_and_value_gathers_all_three_gradients) {
  const Tensor x = load_fixture("attention_self").inputs[0];
  const Variable copies[] = {{x.clone(), true}, {x.clone(), true}, {x.clone(), true}}, shared(x, true);
  const AttentionOptions options = two_heads(Mask::causal_order());
  sum(attention(copies[0], copies[1], copies[2], options).output.pow(2)).backward();
  sum(attention(shared, shared, shared, options).output.pow(2)).backward();
  const Variable total = copies[0].grad() + copies[1].grad() + copies[2].grad();
  EXPECT_TRUE(close(shared.grad().data(), total.data(), kF64));
}

/// Outputs and input gradients of attention or its reference, in one list.
Variables outputs_and_gradients(const std::vector<Tensor>& inputs, const std::vector<Tensor>& upstreams,
                                const AttentionOptions& options, bool composed) {
  const Variables in = leaves(inputs), upstream(upstreams.begin(), upstreams.end());
  Variables all;
  if (composed) {
    all = attention_reference(in, options);
  } else {
    const AttentionResult result = attention(in[0], in[1], in[2], options);
    all = {result.output, result.weights};
  }
  for (const Variable& slope : grad(all, in, upstream)) all.push_back(slope);
  return all;
}

TEST(attention, equals_its_reference_for_any_sizes_and_masks) {
  EXPECT_TRUE(rc::check([] {
    const int64_t batch = any_between(1, 3), heads = any_between(1, 3), queries = any_between(1, 70);
    const int64_t keys = any_between(1, 70), d = heads * any_between(1, 40), e = heads * any_between(1, 70);
    Generator generator(static_cast<uint64_t>(any_between(0, 1 << 30)));
    const auto any = [&](const Shape& shape) { return rand_normal(shape, 0, 1, DType::f64, generator); };
    AttentionOptions options{.heads = heads, .scale = 0.3, .mask = any_mask(batch, heads, queries, keys)};
    if (any_between(0, 1) == 0) {
      options.dropout = 0.25;
      options.dropout_keep = rand_integers({batch, heads, queries, keys}, 0, 4, generator).to(DType::boolean);
    }
    options.want_weights = true;
    const std::vector<Tensor> inputs{any({batch, queries, d}), any({batch, keys, d}), any({batch, keys, e})};
    const std::vector<Tensor> upstreams{any({batch, queries, e}), any({batch, heads, queries, keys})};
    const Variables fused = outputs_and_gradients(inputs, upstreams, options, false);
    const Variables composed = outputs_and_gradients(inputs, upstreams, options, true);
    for (size_t i = 0; i < fused.size(); ++i) {
      const auto result = close(fused[i].data(), composed[i].data(), kF64);
      if (!result) RC_FAIL(fmt::format("result {}: {}", i, result.message()));
    }
  }));
}

/// Everything that attention gives for two heads, forwards and backwards.
std::vector<Tensor> all_results(const std::vector<Tensor>& inputs, const std::vector<Tensor>& upstreams,
                                AttentionOptions options) {
  options.want_weights = options.want_scores = options.want_gradients = true;
  const Variables in = leaves(inputs), upstream(upstreams.begin(), upstreams.end());
  const AttentionResult result = attention(in[0], in[1], in[2], options);
  const Variables outputs{result.output, result.weights};
  std::vector<Tensor> all{result.output.data(), result.weights.data(), result.scores};
  for (const Variable& slope : grad(outputs, in, upstream)) all.push_back(slope.data());
  all.insert(all.end(), {result.gradients->weights, result.gradients->scores});
  return all;
}

TEST(attention, bf16_is_computed_in_f32_and_rounded_once) {
  const Fixture fixture = load_fixture("attention_dropout");
  AttentionOptions options = two_heads(Mask::causal_order());
  options.dropout_keep = fixture.args[0];
  options.dropout = 0.25;
  auto inputs = converted(fixture.inputs, DType::bf16);
  const auto upstreams = converted(fixture.upstreams, DType::bf16);
  inputs[2].select(1, -1).fill(std::numeric_limits<double>::quiet_NaN());  // which most queries do not see
  const auto got = all_results(inputs, upstreams, options);
  const auto wanted = all_results(converted(inputs, DType::f32), converted(upstreams, DType::f32), options);
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(identical(got[i], wanted[i].to(DType::bf16))) << "result " << i;
}

TEST(attention, a_bf16_variable_as_query_key_and_value_gathers_all_three_gradients) {
  const Tensor x = load_fixture("attention_self").inputs[0].to(DType::bf16);
  const Variable copies[] = {{x.clone(), true}, {x.clone(), true}, {x.clone(), true}}, shared(x, true);
  const AttentionOptions options = two_heads(Mask::causal_order());
  sum(attention(copies[0], copies[1], copies[2], options).output).backward();
  sum(attention(shared, shared, shared, options).output).backward();
  const Variable total = copies[0].grad() + copies[1].grad() + copies[2].grad();
  EXPECT_EQ(shared.grad().dtype(), DType::bf16);
  EXPECT_TRUE(close(shared.grad().data(), total.data(), {.relative = 0x1p-7, .absolute = 0x1p-8}));
}

TEST(attention, asking_for_weights_and_scores_changes_no_bit) {
  const Fixture fixture = load_fixture("attention_heads");
  const auto run = [&](bool asked) {
    const Variables in = leaves(fixture.inputs);
    AttentionOptions options = two_heads(Mask::causal_order());
    options.want_weights = options.want_scores = asked;
    const AttentionResult result = attention(in[0], in[1], in[2], options);
    result.output.backward(fixture.upstreams[0]);
    return Variables{result.output, in[0].grad(), in[1].grad(), in[2].grad()};
  };
  const Variables with = run(true), without = run(false);
  for (size_t i = 0; i < with.size(); ++i) EXPECT_TRUE(close(with[i].data(), without[i].data(), kExact));
}

TEST(attention, scores_are_scaled_products_before_the_mask) {
  const Variable q = tensor_of({{{1, 2}, {3, 4}}}), k = tensor_of({{{5, 6}, {7, 8}}});
  const AttentionResult result =
      attention(q, k, k, {.scale = 0.5, .mask = Mask::causal_order(), .want_scores = true});
  EXPECT_TRUE(close(result.scores, {8.5, 11.5, 19.5, 26.5}, kExact));
  EXPECT_FALSE(result.weights.defined());
}

TEST(attention, shapes_that_do_not_fit_are_named) {
  const Variable q = zeros({2, 3, 4}), k = zeros({2, 5, 4}), v = zeros({2, 5, 6});
  expect_error<ShapeError>(
      [&] {
        return attention(q, k, zeros({2, 4, 6}), {});
      },
      "came (2, 3, 4), (2, 5, 4), (2, 4, 6)");
  expect_error<ShapeError>([&] { return attention(q, zeros({2, 5, 3}), v, {}); }, "(2, 5, 3)");
  expect_error<ShapeError>([&] { return attention(zeros({3, 4}), k, v, {}); }, "(3, 4)");
  expect_error<ShapeError>(
      [&] { return attention(q, k, v, {.heads = 3}); },
      "[attention] wanted widths that divide into 3 heads, came q (2, 3, 4), v (2, 5, 6)");
  expect_error<ShapeError>([&] { return attention(q, k, v, {.heads = 0}); }, "0 heads");
  expect_error<ShapeError>(
      [&] {
        return attention(q, k, v, {.mask = Mask::valid_keys(ones({2, 4}, DType::boolean))});
      },
      "[attention] wanted a mask for (batch, heads, queries, keys) (2, 1, 3, 5)");
  expect_error<DTypeError>([&] { return attention(q, zeros({2, 5, 4}, DType::f64), v, {}); }, "f64(2, 5, 4)");
}

TEST(attention, dropout_that_does_not_fit_is_named) {
  const Variable x = zeros({1, 2, 2});
  const Tensor keep = ones({1, 1, 2, 2}, DType::boolean);
  expect_error<ShapeError>(
      [&] {
        return attention(x, x, x, {.dropout_keep = ones({1, 2, 2}, DType::boolean), .dropout = 0.5});
      },
      "[attention] wanted a dropout mask bool(1, 1, 2, 2), came bool(1, 2, 2)");
  expect_error<ShapeError>(
      [&] {
        return attention(x, x, x, {.dropout_keep = ones({1, 1, 2, 2}), .dropout = 0.5});
      },
      "[attention] wanted a dropout mask bool(1, 1, 2, 2), came f32(1, 1, 2, 2)");
  expect_error<ValueError>([&] { return attention(x, x, x, {.dropout_keep = keep, .dropout = 1.5}); },
                           "[attention] wanted a probability in [0, 1], came 1.5");
}

}  // namespace
}  // namespace heed::test
