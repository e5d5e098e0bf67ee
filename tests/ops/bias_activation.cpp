#include <heed/tensor/compare.h>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

template <class F>
OpCase activation_case(const std::string& name, ActivationKind kind, F f) {
  return {"bias_" + name,
          [=](In x, Args) { return Variables{bias_activation(x[0], x[1], kind)}; },
          [=](In x, Args) { return Variables{f(x[0] + x[1])}; },
          {{{{1}, {1}}}, {{{3, 1}, {1}}}, {{{4}, {4}}}, {{{0, 3}, {3}}}, {{{2, 0, 3}, {3}}}, {{{2, 0}, {0}}}},
          {{{{3, 67}, {67}}}}};
}

std::vector<OpCase> cases() {
  return {activation_case("relu", ActivationKind::relu, [](const Variable& x) { return relu(x); }),
          activation_case("gelu", ActivationKind::gelu, [](const Variable& x) { return gelu(x); }),
          activation_case("tanh", ActivationKind::tanh, [](const Variable& x) { return tanh(x); }),
          activation_case("sigmoid", ActivationKind::sigmoid, [](const Variable& x) { return sigmoid(x); })};
}

INSTANTIATE_TEST_SUITE_P(bias_activation, OpTest, op_cases(cases(), {{{2048, 512}, {512}}}), case_name);

TEST(activate, is_the_function_of_its_kind) {
  const Variable x = tensor_of({-2, 0.5});
  EXPECT_TRUE(identical(activate(x, ActivationKind::relu).data(), relu(x).data()));
  EXPECT_TRUE(identical(activate(x, ActivationKind::gelu).data(), gelu(x).data()));
  EXPECT_TRUE(identical(activate(x, ActivationKind::tanh).data(), tanh(x).data()));
  EXPECT_TRUE(identical(activate(x, ActivationKind::sigmoid).data(), sigmoid(x).data()));
}

// Many rows: the bias gradient is a sum of parts.
TEST(bias_activation, adds_up_the_bias_gradient_over_all_rows) {
  const Variable x = full({100'000, 3}, 0.5, DType::f64);
  const Variable bias(tensor_of({1, -2, 0.25}, DType::f64), true);
  sum(bias_activation(x, bias, ActivationKind::relu)).backward();
  EXPECT_TRUE(close(bias.grad().data(), {100'000, 0, 100'000}, kExact));
}

TEST(bias_activation, wants_a_bias_as_wide_as_x) {
  const Variable x = zeros({2, 3});
  expect_error<ShapeError>([&] { bias_activation(x, zeros({2}), ActivationKind::relu); },
                           "[bias_activation] wanted x (..., width) and bias (width), came (2, 3) and (2,)");
  expect_error<DTypeError>([&] { bias_activation(x, zeros({3}, DType::f64), ActivationKind::relu); },
                           "[bias_activation] wanted one dtype, came f32(2, 3) and f64(3,)");
}

}  // namespace
}  // namespace heed::test
