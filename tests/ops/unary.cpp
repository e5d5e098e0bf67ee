#include <cmath>
#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const std::vector<Variant> small{{{{}}}, {{{1}}}, {{{0}}}, {{{3, 0, 2}}}};
  return {
      {"exp", [](In x, Args) { return Variables{x[0].exp()}; }, nullptr, small},
      {"log", [](In x, Args) { return Variables{x[0].log()}; }, nullptr, small},
      {"sqrt", [](In x, Args) { return Variables{x[0].sqrt()}; }, nullptr, small},
      {"tanh", [](In x, Args) { return Variables{x[0].tanh()}; }, nullptr, small},
      {"sigmoid", [](In x, Args) { return Variables{x[0].sigmoid()}; }, nullptr, small},
      {"relu", [](In x, Args) { return Variables{x[0].relu()}; }, nullptr, small},
      {"rsqrt", [](In x, Args) { return Variables{rsqrt(x[0])}; }, nullptr, small},
      {"abs", [](In x, Args) { return Variables{abs(x[0])}; }, nullptr, small},
      {"sin", [](In x, Args) { return Variables{sin(x[0])}; }, nullptr, small},
      {"cos", [](In x, Args) { return Variables{cos(x[0])}; }, nullptr, small},
      {"erf", [](In x, Args) { return Variables{erf(x[0])}; }, nullptr, small},
      {"clamp", [](In x, Args) { return Variables{clamp(x[0], -0.5, 0.8)}; }, nullptr, small},
  };
}

INSTANTIATE_TEST_SUITE_P(unary, OpTest, op_cases(cases(), {{{512, 1024}}}), case_name);

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// f and its derivative at these points, in f64 and f32.
void expect_at(Variable (*f)(const Variable&), const std::vector<double>& points,
               const std::vector<double>& values, const std::vector<double>& slopes) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Variable x(from_values<double>(points, {std::ssize(points)}).to(dtype), true);
    const Variable y = f(x);
    sum(y).backward();
    EXPECT_TRUE(close(y.data(), values, kExact)) << name_of(dtype);
    EXPECT_TRUE(close(x.grad().data(), slopes, kExact)) << name_of(dtype);
  }
}

TEST(unary, the_ends_of_the_range_have_their_limits) {
  expect_at(exp, {-kInfinity, 0, kInfinity}, {0, 1, kInfinity}, {0, 1, kInfinity});
  expect_at(tanh, {-1000, 0, 1000}, {-1, 0, 1}, {0, 1, 0});
  expect_at(sigmoid, {-1000, 0, 1000}, {0, 0.5, 1}, {0, 0.25, 0});
  expect_at(log, {0, 1, kInfinity}, {-kInfinity, 0, kInfinity}, {kInfinity, 1, 0});
  expect_at(sqrt, {0, 4}, {0, 2}, {kInfinity, 0.25});
}

TEST(unary, the_slope_of_relu_at_zero_is_zero) {
  expect_at(relu, {-1, -0.0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1});
}

TEST(unary, the_slope_of_abs_at_zero_is_zero) { expect_at(abs, {-2, 0, 3}, {2, 0, 3}, {-1, 0, 1}); }

TEST(unary, clamp_keeps_the_slope_at_its_ends) {
  const auto unit = [](const Variable& x) { return clamp(x, -1, 1); };
  expect_at(unit, {-2, -1, 0, 1, 2}, {-1, -1, 0, 1, 1}, {0, 1, 1, 1, 0});
  expect_error<ValueError>([] { return clamp(zeros({2}), 1, -1); },
                           "[clamp] wanted low <= high, came 1 and -1");
}

TEST(unary, nan_is_never_hidden) {
  const Tensor x = tensor_of({std::numeric_limits<double>::quiet_NaN()});
  for (const auto f : {exp, log, sqrt, tanh, sigmoid, relu, rsqrt, abs, sin, cos, erf})
    EXPECT_TRUE(std::isnan(f(x).item()));
}

TEST(unary, whole_numbers_are_refused) {
  const Variable x = zeros({2, 3}, DType::i64);
  expect_error<DTypeError>([&] { return exp(x); }, "[exp] wanted f32 or f64, came i64(2, 3)");
  expect_error<DTypeError>([&] { return log(x); }, "[log] wanted f32 or f64, came i64(2, 3)");
  expect_error<DTypeError>([&] { return sqrt(x); }, "[sqrt] wanted f32 or f64, came i64(2, 3)");
  expect_error<DTypeError>([&] { return tanh(x); }, "[tanh] wanted f32 or f64, came i64(2, 3)");
  expect_error<DTypeError>([&] { return sigmoid(x); }, "[sigmoid] wanted f32 or f64, came i64(2, 3)");
  expect_error<DTypeError>([&] { return relu(x); }, "[relu] wanted f32 or f64, came i64(2, 3)");
}

}  // namespace
}  // namespace heed::test
