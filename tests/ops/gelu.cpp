#include <cmath>
#include <limits>
#include <numbers>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

Variables composed(In x, Args) { return {x[0] * (erf(x[0] * std::sqrt(0.5)) * 0.5 + 0.5)}; }

/// (1 + tanh(a)) / 2 is sigmoid(2 a).
Variables composed_tanh(In x, Args) {
  const double inner = std::sqrt(8 / std::numbers::pi);
  return {x[0] * sigmoid(inner * x[0] * (1 + 0.044715 * x[0] * x[0]))};
}

std::vector<OpCase> cases() {
  const std::vector<Variant> small{{{{}}}, {{{1}}}, {{{0}}}, {{{3, 0, 2}}}}, large{{{{3, 67}}}};
  return {{"gelu", [](In x, Args) { return Variables{gelu(x[0])}; }, composed, small, large},
          {"gelu_tanh", [](In x, Args) { return Variables{gelu(x[0], GeluForm::tanh)}; }, composed_tanh,
           small, large}};
}

INSTANTIATE_TEST_SUITE_P(gelu, OpTest, op_cases(cases(), {{{512, 1024}}}), case_name);

TEST(gelu, the_ends_of_the_range_have_their_limits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const GeluForm form : {GeluForm::exact, GeluForm::tanh}) {
    const Variable x(tensor_of({-kInfinity, -1e30, 0, 1e30, kInfinity}, DType::f64), true);
    const Variable y = gelu(x, form);
    sum(y).backward();
    EXPECT_TRUE(close(y.data(), {0, 0, 0, 1e30, kInfinity}, kExact));
    EXPECT_TRUE(close(x.grad().data(), {0, 0, 0.5, 1, 1}, kExact));
  }
}

TEST(gelu, whole_numbers_are_refused) {
  expect_error<DTypeError>(
      [] {
        return gelu(zeros({2, 3}, DType::i64));
      },
      "[gelu] wanted f32 or f64, came i64(2, 3)");
}

}  // namespace
}  // namespace heed::test
