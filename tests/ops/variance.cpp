#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

/// The mean of the squares less the square of the mean.
Variables difference_of_squares(In x, const Dims& axes, const VarianceOptions& options) {
  const Variable squares = mean(x[0] * x[0], axes, options.keep_axes),
                 center = mean(x[0], axes, options.keep_axes);
  const auto count = static_cast<double>(x[0].numel()) / static_cast<double>(squares.numel());
  return {(squares - center * center) * (count / (count - static_cast<double>(options.correction)))};
}

OpCase variance_case(const std::string& name, const Dims& axes, const VarianceOptions& options,
                     std::vector<Variant> small = {}, std::vector<Variant> large = {}) {
  return {name, [=](In x, Args) { return Variables{var(x[0], axes, options)}; },
          [=](In x, Args) { return difference_of_squares(x, axes, options); }, std::move(small),
          std::move(large)};
}

std::vector<OpCase> cases() {
  return {
      variance_case("var_all_0", {}, {.correction = 0}, {{{{}}}, {{{1}}}, {{{3}}}}),
      variance_case("var_all_1", {}, {}, {{{{2}}}, {{{1, 2}}}}, {{{{9, 67}}}}),
      variance_case("var_last_0", {-1}, {.correction = 0}, {{{{2, 1}}}, {{{0, 3}}}}, {{{{3, 67}}}}),
      variance_case("var_last_1", {-1}, {}, {{{{2}}}, {{{0, 3}}}, {{{0, 1}}}}),
      variance_case("var_outer_axes_0", {0, 2}, {.correction = 0}, {}, {{{{5, 3, 37}}}}),
      variance_case("var_outer_axes_1", {0, 2}, {}, {{{{1, 1, 2}}}, {{{2, 0, 2}}}}),
      variance_case("var_keep_0", {0, 1}, {.correction = 0, .keep_axes = true}, {{{{1, 1}}}},
                    {{{{5, 3, 37}}}}),
      variance_case("var_keep_1", {0, 1}, {.keep_axes = true}, {{{{2, 1, 1}}}, {{{2, 3, 0}}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(variance, OpTest, op_cases(cases(), {{{64, 128, 128}}}), case_name);

TEST(variance, a_large_mean_costs_the_gradient_no_digits) {
  const Variable x(tensor_of({1e6, 1e6 + 0.0625, 1e6 + 0.125, 1e6 + 0.375}), true);
  var(x).backward();
  // 2 / 3 times the distance from the mean, which lies between two numbers of f32
  EXPECT_TRUE(close(x.grad().data(), {-0.09375, -0.052083333, -0.010416667, 0.15625}, kF32));
}

TEST(variance, what_does_not_fit_is_named) {
  const Variable x = zeros({2, 1});
  expect_error<ValueError>([&] { return var(x, {1}); },
                           "[var] wanted more than 1 elements, came 1: shape (2, 1), axes (1,)");
  expect_error<ValueError>([&] { return var(x, {}, {.correction = -1}); },
                           "[var] wanted a correction of 0 or more, came -1");
  expect_error<IndexError>([&] { return var(x, {2}); }, "[var] wanted an axis in [-2, 2), came 2");
  expect_error<DTypeError>([] { return var(zeros({2}, DType::i64)); },
                           "[var] wanted f32 or f64, came i64(2,)");
}

}  // namespace
}  // namespace heed::test
