#include <heed/tensor/threads.h>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const OpFunction rows = [](In x, Args a) { return Variables{embedding(x[0], a[0])}; };
  return {
      {"embedding",
       rows,
       nullptr,
       {{{{1, 1}}, {zeros({1}, DType::i64)}},
        {{{2, 3}}, {scalar(1, DType::i64)}},
        {{{2, 3}}, {zeros({0}, DType::i64)}},
        {{{2, 0}}, {zeros({3}, DType::i64)}},
        {{{0, 3}}, {zeros({0}, DType::i64)}}}},
      {"embedding_batched", rows},
  };
}

INSTANTIATE_TEST_SUITE_P(embedding, OpTest, op_cases(cases(), {{{4000, 256}}, {{{64, 32}, 4000}}}),
                         case_name);

Variables padded(In x, Args a) { return {embedding(x[0], a[0], 2)}; }

TEST(embedding, the_padding_row_has_no_gradient) {
  // A derivative left out on purpose, so finite differences cannot check it: only PyTorch can.
  const Fixture fixture = load_fixture("embedding_padding");
  for (const bool gaps : {false, true}) {
    const Variable table(relaid(fixture.inputs[0], gaps), true);
    const Variables rows = padded({&table, 1}, std::vector{relaid(fixture.args[0], gaps)});
    EXPECT_TRUE(close(rows[0].data(), fixture.outputs[0], kF64));
    rows[0].backward(fixture.upstreams[0]);
    EXPECT_TRUE(close(table.grad().data(), fixture.grads[0], kF64));
  }
}

TEST(embedding, the_second_derivative_leaves_the_padding_row_out) {
  const Fixture fixture = load_fixture("embedding_padding");
  const Variable table(fixture.inputs[0], true), upstream(fixture.upstreams[0], true);
  const Variables rows = padded({&table, 1}, fixture.args);
  const Variables slope = grad(rows, {&table, 1}, {&upstream, 1}, {.create_graph = true});
  slope[0].backward(ones({5, 3}, DType::f64));
  // d(sum of the table's gradient)/d(upstream): 1 for each id but the padding's, whose id is 2
  Tensor expected = ones({2, 3, 3}, DType::f64);
  expected.select(0, 0).select(0, 0).fill(0);
  expected.select(0, 0).select(0, 2).fill(0);
  EXPECT_TRUE(close(upstream.grad().data(), expected, kExact));
}

TEST(case_C19, repeated_ids_add_up) {
  const Variable table(tensor_of({{0, 0}, {0, 0}, {0, 0}}), true);
  embedding(table, tensor_of({1, 1, 0}, DType::i64)).backward(tensor_of({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_TRUE(close(table.grad().data(), {5, 6, 4, 6, 0, 0}, kExact));
}

TEST(case_C19, a_padding_row_gets_nothing_from_many_ids) {
  const Variable table(ones({10, 8}), true);
  Tensor ids = zeros({1, 769}, DType::i64);
  ids.set({0, 0}, 3);
  sum(embedding(table, ids, 0)).backward();
  EXPECT_TRUE(close(table.grad().data().select(0, 0), zeros({8}), kExact));
  EXPECT_TRUE(close(table.grad().data().select(0, 3), ones({8}), kExact));
}

TEST(case_C19, ids_outside_the_table_are_named) {
  const Variable table = zeros({3, 2});
  expect_error<IndexError>(
      [&] {
        return embedding(table, tensor_of({0, -1}, DType::i64));
      },
      "[embedding] id -1 is outside the table of 3 rows");
  expect_error<IndexError>(
      [&] {
        return embedding(table, tensor_of({3, 0}, DType::i64));
      },
      "[embedding] id 3 is outside the table of 3 rows");
}

TEST(case_C41, repeated_ids_add_up_with_any_number_of_threads) {
  const int before = num_threads();
  const Tensor ids = full({10000}, 7, DType::i64);
  for (const int threads : {1, 2, before}) {
    set_num_threads(threads);
    for (int round = 0; round < 20; ++round) {
      const Variable table(zeros({9, 64}), true);
      sum(embedding(table, ids)).backward();
      ASSERT_TRUE(close(table.grad().data().select(0, 7), full({64}, 10000), kExact))
          << threads << " threads";
      ASSERT_TRUE(close(table.grad().data().select(0, 8), zeros({64}), kExact)) << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST(embedding, tables_and_ids_that_do_not_fit_are_named) {
  expect_error<ShapeError>([] { return embedding(zeros({3}), zeros({1}, DType::i64)); },
                           "[embedding] wanted a table (rows, width), came (3,)");
  expect_error<DTypeError>(
      [] {
        return embedding(zeros({3, 2}), zeros({1}));
      },
      "[embedding] wanted i64 ids, came f32(1,)");
}

}  // namespace
}  // namespace heed::test
