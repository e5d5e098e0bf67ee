#include <heed/autograd/hooks.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/storage.h>

#include "tests/ops/memory.h"
#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

Variables composed(In x, Args) { return {sum(tanh(x[0].unsqueeze(2) + x[1].unsqueeze(1)) * x[2], {-1})}; }

std::vector<OpCase> cases() {
  const OpFunction score = [](In x, Args) { return Variables{additive_score(x[0], x[1], x[2])}; };
  return {{"additive_score",
           score,
           composed,
           {{{{1, 1, 1}, {1, 1, 1}, {1}}},
            {{{0, 2, 3}, {0, 4, 3}, {3}}},
            {{{2, 0, 3}, {2, 4, 3}, {3}}},
            {{{2, 2, 3}, {2, 0, 3}, {3}}},
            {{{2, 2, 0}, {2, 4, 0}, {0}}}},
           {{{{2, 5, 67}, {2, 7, 67}, {67}}}}},
          {"additive_score_square", score, composed}};
}

INSTANTIATE_TEST_SUITE_P(additive_score, OpTest, op_cases(cases(), {{{16, 32, 128}, {16, 64, 128}, {128}}}),
                         case_name);

TEST(case_C07, scalars_give_the_published_value_and_gradients) {
  const Tensor query = full({1, 1, 1}, 0.5, DType::f64), keys = tensor_of({{{0}, {1}}}, DType::f64);
  const Variable w_q(ones({1, 1}, DType::f64), true), w_k(ones({1, 1}, DType::f64), true);
  const Variable w_v(ones({1}, DType::f64), true);
  const Variable scores = additive_score(linear(query, w_q), linear(keys, w_k), w_v);
  EXPECT_TRUE(close(scores.data(), {0.46211716, 0.90514825}, {.absolute = 1e-8}));
  const Variable weights = softmax(scores, -1);
  EXPECT_TRUE(close(weights.data(), {0.39101896, 0.60898104}, {.absolute = 1e-8}));
  const Variable output = matmul(weights, tensor_of({{{10}, {20}}}, DType::f64));
  EXPECT_NEAR(output.item(), 16.08981043, 1e-8);
  output.backward();
  EXPECT_NEAR(w_q.grad().item(), -0.72120483, 1e-8);
  EXPECT_NEAR(w_k.grad().item(), 0.43030431, 1e-8);
  EXPECT_NEAR(w_v.grad().item(), 1.05495952, 1e-8);
}

TEST(case_C07, memory_stays_far_below_one_array_of_all_sums) {
  constexpr int64_t kBatch = kSanitized ? 1 : 8, kLength = 256, kHidden = 128;
  constexpr int64_t kAllSums = kBatch * kLength * kLength * kHidden * 4;  // 256 MiB for 8
  Generator generator(11);
  const Variable q(rand_normal({kBatch, kLength, kHidden}, 0, 1, DType::f32, generator), true);
  const Variable k(rand_normal({kBatch, kLength, kHidden}, 0, 1, DType::f32, generator), true);
  const Variable weight(rand_normal({kHidden}, 0, 0.1, DType::f32, generator), true);
  const int64_t before = memory_stats().current, resident = resident_bytes();
  reset_peak_memory();
  sum(additive_score(q, k, weight)).backward();
  // the scores, their gradient, and the gradients of q and k are a few MiB each
  EXPECT_LT(memory_stats().peak - before, kAllSums / 8);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes() - resident, kAllSums / 8);
  }
  // the same numbers as the composed formula, on the part of it that one sample of few queries makes
  const Variable some_q = q.slice(0, 0, 1).slice(1, 0, 4), some_k = k.slice(0, 0, 1);
  const Variables in{some_q, some_k, weight};
  EXPECT_TRUE(close(additive_score(some_q, some_k, weight).data(), composed(in, {})[0].data(),
                    {.relative = 1e-5, .absolute = 1e-5}));
}

// The scores are a value of the graph, so their gradient and that of the weights need nothing fused.
TEST(additive_score, watching_scores_and_weights_sees_the_formula_and_changes_no_bit) {
  Generator generator(17);
  const auto any = [&](const Shape& shape) { return rand_normal(shape, 0, 1, DType::f64, generator); };
  const std::vector<Tensor> inputs{any({3, 5, 19}), any({3, 7, 19}), any({19})};
  const Tensor values = any({3, 7, 4}), upstream = any({3, 5, 4});
  const kernels::Mask mask = kernels::Mask::valid_lengths(tensor_of({7, 4, 0}, DType::i64));
  std::shared_ptr<const Tensor> of_scores, of_weights;
  const auto run = [&](bool watched, bool create_graph) {
    const Variables in = leaves(inputs);
    const Variable scores = additive_score(in[0], in[1], in[2]), weights = masked_softmax(scores, mask);
    if (watched) of_scores = watch_grad(scores), of_weights = watch_grad(weights);
    const Variable output = matmul(weights, values);
    const Variables outputs{output}, upstreams{upstream};
    Variables all = grad(outputs, in, upstreams, {.create_graph = create_graph});
    all.push_back(output);
    return all;
  };
  const Variable scores(composed(leaves(inputs), {})[0].data(), true);
  masked_softmax(scores, mask).matmul(values).backward(upstream);
  for (const bool create_graph : {false, true}) {
    const Variables without = run(false, create_graph), with = run(true, create_graph);
    for (size_t i = 0; i < with.size(); ++i) EXPECT_TRUE(identical(with[i].data(), without[i].data())) << i;
    EXPECT_TRUE(close(*of_scores, scores.grad().data(), kF64));
    EXPECT_TRUE(close(*of_weights, matmul(upstream, Variable(values).transpose(1, 2)).data(), kF64));
    EXPECT_TRUE(close(of_scores->select(0, 2), zeros({5, 7}), kExact)) << "nothing is seen there";
  }
}

TEST(additive_score, shapes_that_do_not_fit_are_named) {
  const Variable q = zeros({2, 3, 4}), k = zeros({2, 5, 4}), weight = zeros({4});
  expect_error<ShapeError>(
      [&] {
        return additive_score(q, zeros({2, 5, 3}), weight);
      },
      "came (2, 3, 4), (2, 5, 3), (4,)");
  expect_error<ShapeError>([&] { return additive_score(q, zeros({1, 5, 4}), weight); }, "(1, 5, 4)");
  expect_error<ShapeError>([&] { return additive_score(q, k, zeros({4, 1})); }, "(4, 1)");
  expect_error<ShapeError>([&] { return additive_score(zeros({3, 4}), k, weight); }, "(3, 4)");
  expect_error<DTypeError>([&] { return additive_score(q, k, zeros({4}, DType::f64)); }, "f64(4,)");
}

}  // namespace
}  // namespace heed::test
