#include <heed/autograd/grad_mode.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/storage.h>

#include "tests/ops/any_mask.h"
#include "tests/ops/op_case.h"

/// The gradients that attention hands out of its inside: of weights and scores.
namespace heed::test {
namespace {

using kernels::Mask;

/// A call of attention and what comes back to it.
struct Call {
  std::vector<Tensor> inputs;     // q, k, v
  std::vector<Tensor> upstreams;  // of the output and of the weights
  AttentionOptions options;

  Call in(DType dtype) const {
    const auto all = [dtype](std::vector<Tensor> tensors) {
      for (Tensor& x : tensors) x = x.to(dtype);
      return tensors;
    };
    return {all(inputs), all(upstreams), options};
  }
};

/// f64, of any sizes and any mask, with dropout or without; to be called inside a property.
Call any_call() {
  const int64_t batch = any_between(1, 3), heads = any_between(1, 3), queries = any_between(1, 70);
  const int64_t keys = any_between(1, 70), d = heads * any_between(1, 40), e = heads * any_between(1, 70);
  Generator generator(static_cast<uint64_t>(any_between(0, 1 << 30)));
  const auto any = [&](const Shape& shape) { return rand_normal(shape, 0, 1, DType::f64, generator); };
  Call call{{any({batch, queries, d}), any({batch, keys, d}), any({batch, keys, e})},
            {any({batch, queries, e}), any({batch, heads, queries, keys})},
            {.heads = heads, .scale = 0.3, .mask = any_mask(batch, heads, queries, keys)}};
  if (any_between(0, 1) == 0) {
    call.options.dropout = 0.25;
    call.options.dropout_keep =
        rand_integers({batch, heads, queries, keys}, 0, 4, generator).to(DType::boolean);
  }
  call.options.want_weights = call.options.want_gradients = true;
  return call;
}

/// Output, weights and the gradients of q, k and v; with `handed_out` those of weights and scores go there.
std::vector<Tensor> run(const Call& call, bool create_graph, AttentionGradients* handed_out = nullptr) {
  const Variables in = leaves(call.inputs), upstreams(call.upstreams.begin(), call.upstreams.end());
  const AttentionResult result = attention(in[0], in[1], in[2], call.options);
  const Variables outputs{result.output, result.weights};
  std::vector<Tensor> all{result.output.data(), result.weights.data()};
  for (const Variable& slope : grad(outputs, in, upstreams, {.create_graph = create_graph}))
    all.push_back(slope.data());
  if (handed_out != nullptr) *handed_out = *result.gradients;
  return all;
}

AttentionGradients handed_out(const Call& call, bool create_graph = false) {
  AttentionGradients gradients;
  run(call, create_graph, &gradients);
  return gradients;
}

/// (batch, length, heads * d) -> (batch, heads, length, d)
Variable split(const Variable& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// The same two gradients by the engine, from scores on which softmax and sums are composed.
AttentionGradients composed(const Call& call) {
  const int64_t heads = call.options.heads;
  const Variable q = split(call.inputs[0], heads), k = split(call.inputs[1], heads);
  const Variable scores((matmul(q, k.transpose(2, 3)) * call.options.scale).data(), true);
  const Variable weights = masked_softmax(scores, call.options.mask);
  const Variable kept = call.options.dropout_keep.defined()
                            ? dropout_with_mask(weights, call.options.dropout_keep, call.options.dropout)
                            : weights;
  const Variable output = matmul(kept, split(call.inputs[2], heads));
  const Variables outputs{output, weights}, values{weights, scores};
  const Variables upstreams{split(call.upstreams[0], heads), call.upstreams[1]};
  const Variables grads = grad(outputs, values, upstreams);
  // A query that sees nothing has weights of 0 whatever its gradient is; it is handed out as 0.
  const Variable sees = sum(weights.detach(), {-1}, true);
  return {(grads[0] * sees).data(), grads[1].data()};
}

void expect_close(const AttentionGradients& got, const AttentionGradients& want, Tolerance tolerance) {
  const auto weights = close(got.weights, want.weights, tolerance);
  const auto scores = close(got.scores, want.scores, tolerance);
  if (!weights) RC_FAIL(fmt::format("weights: {}", weights.message()));
  if (!scores) RC_FAIL(fmt::format("scores: {}", scores.message()));
}

bool all_identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return identical(x, y); });
}

/// Two samples of which the second sees nothing, two heads, 40 queries: more than a block.
Call half_hidden(DType dtype = DType::f64) {
  Generator generator(5);
  const auto any = [&](const Shape& shape) { return rand_normal(shape, 0, 1, dtype, generator); };
  return {{any({2, 40, 6}), any({2, 9, 6}), any({2, 9, 4})},
          {any({2, 40, 4}), any({2, 2, 40, 9})},
          {.heads = 2,
           .scale = 0.5,
           .mask = Mask::valid_lengths(tensor_of({7, 0}, DType::i64)),
           .want_weights = true,
           .want_gradients = true}};
}

TEST(attention_gradients, equal_the_composed_formula_for_any_sizes_and_masks) {
  EXPECT_TRUE(rc::check([] {
    const Call call = any_call();
    const AttentionGradients want = composed(call);
    expect_close(handed_out(call), want, kF64);
    expect_close(handed_out(call.in(DType::f32)), want, {.relative = 1e-5, .absolute = 2e-5});
  }));
}

TEST(attention_gradients, asking_for_them_changes_no_bit) {
  EXPECT_TRUE(rc::check([] {
    Call call = any_call().in(any_between(0, 1) == 0 ? DType::f32 : DType::f64);
    AttentionGradients gradients;
    call.options.want_scores = true;
    const auto asked = run(call, false, &gradients);
    call.options.want_scores = call.options.want_gradients = false;
    RC_ASSERT(all_identical(asked, run(call, false)));
    RC_ASSERT(gradients.scores.defined());
  }));
}

TEST(attention_gradients, are_handed_out_where_a_graph_is_recorded_too) {
  Call call = half_hidden();
  AttentionGradients recorded;
  const auto asked = run(call, true, &recorded), plain = run(call, false);
  const AttentionGradients wanted = handed_out(call);
  EXPECT_TRUE(identical(recorded.weights, wanted.weights));
  EXPECT_TRUE(identical(recorded.scores, wanted.scores));
  call.options.want_gradients = false;
  EXPECT_TRUE(all_identical(asked, run(call, true)));
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(close(asked[i], plain[i], kF64)) << i;
}

TEST(attention_gradients, have_the_values_of_the_formula) {
  // one query with scores 1 and 2 and a sample that sees nothing; the values are 1 and 2
  const Variable q(ones({2, 1, 1}), true), k(tensor_of({{{1}, {2}}, {{3}, {4}}})),
      v(tensor_of({{{1}, {2}}, {{1}, {2}}}));
  const Mask mask = Mask::valid_lengths(tensor_of({2, 0}, DType::i64));
  const AttentionResult result =
      attention(q, k, v, {.mask = mask, .want_weights = true, .want_gradients = true});
  EXPECT_FALSE(result.gradients->weights.defined());
  EXPECT_FALSE(result.gradients->scores.defined());
  result.output.backward(ones({2, 1, 1}), {.retain_graph = true});
  EXPECT_TRUE(close(result.gradients->weights, {1, 2, 0, 0}, kExact));
  EXPECT_TRUE(close(result.gradients->scores, {-0.19661193, 0.19661193, 0, 0}, kF32));
  result.weights.backward(tensor_of({{{1, 0}}, {{1, 0}}}).reshape({2, 1, 1, 2}));
  EXPECT_TRUE(close(result.gradients->weights, {1, 0, 0, 0}, kExact)) << "that arrived at the weights";
  EXPECT_TRUE(close(result.gradients->scores, {0.19661193, -0.19661193, 0, 0}, kF32));
}

TEST(attention_gradients, of_scores_are_those_of_the_scores_that_are_handed_out) {
  Call call = half_hidden();
  call.options.scale = 0.25;
  call.options.want_scores = true;
  const Variables in = leaves(call.inputs);
  const AttentionResult result = attention(in[0], in[1], in[2], call.options);
  result.output.backward(call.upstreams[0]);
  const Variable slopes(result.gradients->scores), keys = split(call.inputs[1], 2);
  const Variable wanted = (matmul(slopes, keys) * 0.25).transpose(1, 2).reshape(in[0].shape());
  EXPECT_TRUE(close(in[0].grad().data(), wanted.data(), kF64));
  EXPECT_TRUE(close(masked_softmax(result.scores, call.options.mask).data(), result.weights.data(), kF64));
}

TEST(attention_gradients, a_query_that_sees_nothing_has_zeros) {
  const AttentionGradients gradients = handed_out(half_hidden());
  const Tensor nothing = zeros({2, 40, 9});
  EXPECT_TRUE(close(gradients.weights.select(0, 1), nothing, kExact));
  EXPECT_TRUE(close(gradients.scores.select(0, 1), nothing, kExact));
  // Of a query that sees some keys, a hidden one has a gradient of its weight, but none of its score.
  const Tensor hidden = gradients.scores.select(0, 0).slice(-1, 7, 9);
  EXPECT_TRUE(close(hidden, zeros({2, 40, 2}), kExact));
  EXPECT_NE(gradients.weights.at({0, 0, 0, 8}), 0);
}

TEST(attention_gradients, of_one_variable_three_times_are_those_of_three) {
  Generator generator(3);
  const Tensor numbers = rand_normal({2, 40, 6}, 0, 1, DType::f64, generator);
  const Tensor upstream = rand_normal({2, 40, 6}, 0, 1, DType::f64, generator);
  const auto run = [&](const Variable& q, const Variable& k, const Variable& v, bool asked) {
    const AttentionResult result =
        attention(q, k, v, {.heads = 3, .scale = 0.4, .mask = Mask::causal_order(), .want_gradients = asked});
    result.output.backward(upstream);
    return asked ? *result.gradients : AttentionGradients();
  };
  const Variable shared(numbers, true), unasked(numbers, true);
  const Variables apart = leaves({numbers.clone(), numbers.clone(), numbers.clone()});
  const AttentionGradients one = run(shared, shared, shared, true);
  const AttentionGradients three = run(apart[0], apart[1], apart[2], true);
  run(unasked, unasked, unasked, false);
  EXPECT_TRUE(identical(one.weights, three.weights));
  EXPECT_TRUE(identical(one.scores, three.scores));
  EXPECT_TRUE(identical(shared.grad().data(), unasked.grad().data()));
}

TEST(attention_gradients, have_their_shape_where_there_is_nothing) {
  for (const auto& [batch, queries, keys] :
       std::vector<std::array<int64_t, 3>>{{0, 2, 3}, {2, 0, 3}, {2, 3, 0}}) {
    const Tensor q = ones({batch, queries, 2}), k = ones({batch, keys, 2});
    const Shape pairs{batch, 2, queries, keys};
    const AttentionGradients gradients =
        handed_out({{q, k, k}, {q, ones(pairs)}, {.heads = 2, .want_weights = true, .want_gradients = true}});
    EXPECT_EQ(gradients.weights.shape(), pairs);
    EXPECT_EQ(gradients.scores.shape(), pairs);
  }
}

TEST(attention_gradients, of_the_last_pass_replace_those_before) {
  const Call call = half_hidden();
  const Variables in = leaves(call.inputs);
  const AttentionResult result = attention(in[0], in[1], in[2], call.options);
  result.output.backward(call.upstreams[0], {.retain_graph = true});
  const AttentionGradients first = *result.gradients;
  result.output.backward((Variable(call.upstreams[0]) * 2), {.retain_graph = true});
  EXPECT_TRUE(close(result.gradients->scores, (Variable(first.scores) * 2).data(), kF64));
  EXPECT_TRUE(close(result.gradients->weights, (Variable(first.weights) * 2).data(), kF64));
  // A pass that only wants the gradient of one input comes through as well.
  const Variables output{result.output}, wanted{in[2]}, upstream{call.upstreams[0]};
  (void)grad(output, wanted, upstream);
  EXPECT_TRUE(identical(result.gradients->scores, first.scores));
}

TEST(attention_gradients, stay_undefined_where_nothing_is_recorded) {
  const Call call = half_hidden();
  const Variables in = leaves(call.inputs);
  const NoGrad guard;
  const AttentionResult result = attention(in[0], in[1], in[2], call.options);
  EXPECT_FALSE(result.gradients->weights.defined());
  AttentionOptions options = call.options;
  options.want_gradients = false;
  EXPECT_EQ(attention(in[0], in[1], in[2], options).gradients, nullptr);
}

/// The most memory that forward and backward held at a time beyond what was there before. `kept`: whether
/// somebody holds the gradients that were asked for.
int64_t peak_of(bool asked, bool kept) {
  Call call = half_hidden(DType::f32);
  call.options.want_gradients = asked;
  const Variables in = leaves(call.inputs);
  const int64_t before = memory_stats().current;
  reset_peak_memory();
  AttentionResult result = attention(in[0], in[1], in[2], call.options);
  if (!kept) result.gradients.reset();
  result.output.backward(call.upstreams[0]);
  return memory_stats().peak - before;
}

TEST(attention_gradients, cost_memory_only_while_somebody_holds_them) {
  const int64_t unasked = peak_of(false, false);
  EXPECT_EQ(peak_of(true, false), unasked);
  EXPECT_GE(peak_of(true, true), unasked + 2 * 2 * 2 * 40 * 9 * 4);
}

}  // namespace
}  // namespace heed::test
