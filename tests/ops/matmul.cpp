#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const OpFunction product = [](In x, Args) { return Variables{x[0].matmul(x[1])}; };
  const OpFunction layer = [](In x, Args) {
    return Variables{linear(x[0], x[1], x.size() > 2 ? x[2] : Variable())};
  };
  const OpFunction composed = [](In x, Args) {
    const Variable y = x[0].matmul(x[1].transpose(0, 1));
    return Variables{x.size() > 2 ? y + x[2] : y};
  };
  const std::vector<Variant> small{{{{1, 1}, {1, 1}}},    {{{0, 3}, {3, 2}}},      {{{2, 0}, {0, 3}}},
                                   {{{2, 3}, {3, 0}}},    {{{0, 2, 3}, {3, 2}}},   {{{2, 2, 3}, {2, 3, 0}}},
                                   {{{2, 3}, {0, 3, 2}}}, {{{1, 2, 3}, {2, 3, 1}}}};
  return {
      {"matmul", product, nullptr, small},
      timed({"matmul_batched", product}, {{{256, 32, 32}, {256, 32, 32}}}),
      timed({"matmul_broadcast", product}, {{{8, 1, 32, 32}, {32, 32, 32}}}),
      timed({"matmul_many_by_one", product}, {{{64, 32, 256}, {256, 256}}}),
      timed({"matmul_one_by_many", product}, {{{256, 256}, {64, 256, 32}}}),
      {"matmul_square", product},
      {"linear",
       layer,
       composed,
       {{{{1, 1}, {1, 1}, {1}}}, {{{0, 3}, {2, 3}, {2}}}, {{{2, 0}, {3, 0}, {3}}}, {{{2, 3}, {0, 3}, {0}}}},
       {{{{33, 17}, {67, 17}, {67}}}}},
      timed({"linear_batched", layer, composed, {{{{2, 0, 3}, {2, 3}, {2}}}, {{{1, 1, 1}, {2, 1}, {2}}}}},
            {{{64, 32, 256}, {256, 256}, {256}}}),
      {"linear_without_bias", layer, composed, {{{{1, 1}, {1, 1}}}, {{{0, 3}, {2, 3}}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(matmul, OpTest, op_cases(with_bf16(cases()), {{{512, 512}, {512, 512}, {512}}}),
                         case_name);

TEST(matmul, inner_sizes_that_differ_are_named) {
  const Variable a = zeros({64, 10, 32}), b = zeros({31, 96});
  expect_error<ShapeError>([&] { return matmul(a, b); },
                           "[matmul] inner sizes differ: (64, 10, 32) x (31, 96)");
}

TEST(matmul, vectors_and_batches_that_do_not_fit_are_refused) {
  const Variable matrix = zeros({2, 2}), vector = zeros({2});
  expect_error<ShapeError>([&] { return matmul(matrix, vector); }, "(2,)");
  const Variable two = zeros({2, 3, 3}), four = zeros({4, 3, 3});
  expect_error<ShapeError>([&] { return matmul(two, four); },
                           "[matmul] shapes do not broadcast: (2,) and (4,)");
}

TEST(matmul, a_weight_or_bias_of_another_shape_is_named) {
  const Variable x = zeros({5, 3}), weight = zeros({2, 4}), fitting = zeros({2, 3}), bias = zeros({3});
  expect_error<ShapeError>([&] { return linear(x, weight); }, "(5, 3)");
  expect_error<ShapeError>([&] { return linear(x, weight); }, "(2, 4)");
  expect_error<ShapeError>([&] { return linear(x, fitting, bias); }, "(3,)");
}

TEST(matmul, dtypes_that_differ_are_named) {
  const Variable a = zeros({2, 2}), b = zeros({2, 2}, DType::f64);
  expect_error<DTypeError>([&] { return matmul(a, b); }, "f32(2, 2) and f64(2, 2)");
  expect_error<DTypeError>([&] { return linear(a, b); }, "f32(2, 2) and f64(2, 2)");
}

// A bf16 value that is used twice has its gradients added up.
TEST(matmul, bf16_gradients_accumulate) {
  Variable a(tensor_of({{1, 2}, {3, 4}}, DType::bf16), true);
  const Variable b = tensor_of({{1, 0}, {2, 1}}, DType::bf16), c = tensor_of({{0, 1}, {1, 0}}, DType::bf16);
  const Variable ones = full({2, 2}, 1, DType::bf16);
  const Variable y = matmul(a, b) + matmul(a, c);
  y.backward(ones);
  EXPECT_EQ(a.grad().dtype(), DType::bf16);
  EXPECT_EQ(a.grad().data().to_vector<float>(), (std::vector<float>{2, 4, 2, 4}));
  (matmul(a, b) + matmul(a, c)).backward(ones);
  EXPECT_EQ(a.grad().data().to_vector<float>(), (std::vector<float>{4, 8, 4, 8}));
}

}  // namespace
}  // namespace heed::test
