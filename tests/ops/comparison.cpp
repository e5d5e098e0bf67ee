#include <limits>

#include <heed/tensor/kernels/comparison.h>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const OpFunction choose = [](In x, Args a) { return Variables{where(a[0], x[0], x[1])}; };
  return {{"where",
           choose,
           nullptr,
           {{{{}, {}}, {ones({}, DType::boolean)}},
            {{{1}, {1}}, {zeros({1}, DType::boolean)}},
            {{{}, {3}}, {tensor_of({1, 0, 1}, DType::boolean)}},
            {{{2}, {2}}, {ones({3, 1}, DType::boolean)}},
            {{{2, 0}, {2, 0}}, {ones({2, 0}, DType::boolean)}},
            {{{0}, {2, 1}}, {ones({1}, DType::boolean)}}}},
          {"where_broadcast", choose},
          {"where_condition_broadcast", choose}};
}

INSTANTIATE_TEST_SUITE_P(comparison, OpTest,
                         op_cases(with_bf16(cases()),
                                  {{{512, 1024}, {512, 1024}}, {{{512, 1024}, 2, DType::boolean}}}),
                         case_name);

TEST(comparison, what_is_not_chosen_may_be_nan_and_has_no_gradient) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const Variable a(tensor_of({1, nan}), true), b(tensor_of({infinity, 2}), true);
  const Variable y = where(tensor_of({1, 0}, DType::boolean), a, b);
  EXPECT_TRUE(close(y.data(), {1, 2}, kExact));
  y.backward(tensor_of({infinity, 3}));
  EXPECT_TRUE(close(a.grad().data(), {infinity, 0}, kExact));
  EXPECT_TRUE(close(b.grad().data(), {0, 3}, kExact));
}

TEST(comparison, a_condition_of_a_comparison_chooses_the_larger) {
  const Variable a(tensor_of({1, 5}), true), b(tensor_of({4, 2}), true);
  const Variable larger = where(kernels::gt(a.data(), b.data()), a, b);
  sum(larger).backward();
  EXPECT_TRUE(close(larger.data(), {4, 5}, kExact));
  EXPECT_TRUE(close(a.grad().data(), {0, 1}, kExact));
  EXPECT_TRUE(close(b.grad().data(), {1, 0}, kExact));
}

TEST(comparison, an_edited_condition_is_an_error) {
  Tensor condition = tensor_of({1, 0}, DType::boolean);
  const Variable a(tensor_of({1, 2}), true);
  const Variable y = sum(where(condition, a, scalar(0)));
  condition.set({0}, 0);
  expect_error<GraphError>([&] { y.backward(); }, "edited");
}

TEST(comparison, conditions_and_sides_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3});
  const Tensor yes = ones({2, 3}, DType::boolean);
  expect_error<DTypeError>([&] { return where(ones({2, 3}), x, x); }, "[where] wanted bool, came f32(2, 3)");
  expect_error<DTypeError>([&] { return where(yes, x, zeros({3}, DType::f64)); },
                           "[where] wanted one dtype, came f32(2, 3) and f64(3,)");
  expect_error<ShapeError>([&] { return where(yes, x, zeros({2})); },
                           "[where] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<ShapeError>([&] { return where(ones({2}, DType::boolean), x, x); },
                           "[where] shapes do not broadcast: (2,) and (2, 3)");
}

}  // namespace
}  // namespace heed::test
