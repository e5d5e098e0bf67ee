#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const OpFunction sum = [](In x, Args) { return Variables{x[0] + x[1]}; };
  const OpFunction difference = [](In x, Args) { return Variables{x[0] - x[1]}; };
  const OpFunction product = [](In x, Args) { return Variables{x[0] * x[1]}; };
  const OpFunction quotient = [](In x, Args) { return Variables{x[0] / x[1]}; };
  const std::vector<Variant> small{
      {{{}, {}}}, {{{1}, {1, 1}}}, {{{0}, {1}}}, {{{2, 0}, {2, 1}}}, {{{1}, {0, 1}}}};
  const auto power = [](double exponent) {
    return [exponent](In x, Args) { return Variables{x[0].pow(exponent)}; };
  };
  const std::vector<Variant> one{{{{}}}, {{{1, 1}}}, {{{2, 0}}}};
  return {
      {"add", sum, nullptr, small},
      {"add_broadcast", sum},
      {"sub", difference, nullptr, small},
      {"sub_broadcast", difference},
      {"mul", product, nullptr, small},
      {"mul_broadcast", product},
      {"div", quotient, nullptr, small},
      {"div_broadcast", quotient},
      {"scale", [](In x, Args) { return Variables{scale(x[0], 2.5, -1.5)}; }, nullptr, one},
      {"pow_cube", power(3), nullptr, one},
      {"pow_square", power(2), nullptr, one},
      {"pow_fraction", power(-1.5), nullptr, one},
      {"plain_numbers",
       [](In in, Args) {
         const Variable& x = in[0];
         return Variables{x + 2, x - 2, x * 2, x / 4, 2 + x, 2 - x, 2 * x, 2 / x, -x};
       },
       nullptr, one},
  };
}

INSTANTIATE_TEST_SUITE_P(arithmetic, OpTest, op_cases(with_bf16(cases()), {{{512, 1024}, {512, 1024}}}),
                         case_name);

TEST(arithmetic, shapes_that_do_not_broadcast_are_named) {
  const Variable a = zeros({2, 3}), b = zeros({4});
  expect_error<ShapeError>([&] { return a + b; }, "[add] shapes do not broadcast: (2, 3) and (4,)");
  expect_error<ShapeError>([&] { return a - b; }, "[sub] shapes do not broadcast: (2, 3) and (4,)");
  expect_error<ShapeError>([&] { return a * b; }, "[mul] shapes do not broadcast: (2, 3) and (4,)");
  expect_error<ShapeError>([&] { return a / b; }, "[div] shapes do not broadcast: (2, 3) and (4,)");
}

TEST(arithmetic, dtypes_that_differ_are_named) {
  const Variable a = zeros({2, 3}), b = zeros({2, 3}, DType::f64);
  expect_error<DTypeError>([&] { return a + b; }, "[add] wanted one dtype, came f32(2, 3) and f64(2, 3)");
  expect_error<DTypeError>([&] { return a * b; }, "[mul] wanted one dtype, came f32(2, 3) and f64(2, 3)");
}

TEST(arithmetic, a_power_of_zero_has_no_gradient_anywhere) {
  const Variable x(tensor_of({0, 2, -3}, DType::f64), true);
  const Variable y = x.pow(0);
  sum(y).backward();
  EXPECT_TRUE(close(y.data(), {1, 1, 1}, kExact));
  EXPECT_TRUE(close(x.grad().data(), {0, 0, 0}, kExact));
}

TEST(arithmetic, powers_of_zero_and_of_negative_numbers_have_their_derivatives) {
  const Variable x(tensor_of({0, -2}, DType::f64), true);
  const Variable cube = x.pow(3), square = x.pow(2), line = x.pow(1);
  const Variables total{sum(cube + square + line)};
  const Variables first = grad(total, {&x, 1}, {}, {.create_graph = true});
  EXPECT_TRUE(close(first[0].data(), {1, 12 - 4 + 1}, kExact));  // 3x^2 + 2x + 1
  const Variables again{sum(first[0])};
  const Variables second = grad(again, {&x, 1}, {}, {.create_graph = true});
  EXPECT_TRUE(close(second[0].data(), {2, -12 + 2}, kExact));  // 6x + 2
  const Variables once_more{sum(second[0])};
  EXPECT_TRUE(close(grad(once_more, {&x, 1})[0].data(), {6, 6}, kExact));
}

TEST(arithmetic, division_by_zero_follows_ieee) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Variable x(tensor_of({1, -1}, DType::f64), true), y(tensor_of({0, 0}, DType::f64), true);
  const Variable quotient = x / y;
  sum(quotient).backward();
  EXPECT_TRUE(close(quotient.data(), {infinity, -infinity}, kExact));
  EXPECT_TRUE(close(x.grad().data(), {infinity, infinity}, kExact));
  EXPECT_TRUE(close(y.grad().data(), {-infinity, infinity}, kExact));
}

TEST(arithmetic, the_derivative_of_a_quotient_does_not_square_large_divisors) {
  const Variable x(tensor_of({1e25}), true), y(tensor_of({1e25}), true);
  sum(x / y).backward();
  EXPECT_TRUE(close(x.grad().data(), {1e-25}, {.relative = 1e-5}));
  EXPECT_TRUE(close(y.grad().data(), {-1e-25}, {.relative = 1e-5}));
}

}  // namespace
}  // namespace heed::test
