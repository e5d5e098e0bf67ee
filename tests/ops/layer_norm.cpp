#include <cmath>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

OpCase norm_case(const std::string& name, double epsilon, std::vector<Variant> small = {}) {
  return {name,
          [epsilon](In x, Args) { return Variables{layer_norm(x[0], x[1], x[2], epsilon)}; },
          [epsilon](In x, Args) {
            const double width = static_cast<double>(x[0].size(-1));
            const Variable centered = x[0] - sum(x[0], {-1}, true) / width;
            const Variable variance = sum(centered * centered, {-1}, true) / width;
            return Variables{centered * (variance + epsilon).pow(-0.5) * x[1] + x[2]};
          },
          std::move(small),
          {{{{3, 67}, {67}, {67}}}}};
}

std::vector<OpCase> cases() {
  return {norm_case("layer_norm", 1e-5,
                    {{{{1}, {1}, {1}}},
                     {{{1, 1}, {1}, {1}}},
                     {{{4}, {4}, {4}}},
                     {{{0, 3}, {3}, {3}}},
                     {{{2, 0, 3}, {3}, {3}}}}),
          norm_case("layer_norm_deep", 1e-5), norm_case("layer_norm_epsilon", 0.1)};
}

INSTANTIATE_TEST_SUITE_P(layer_norm, OpTest, op_cases(cases(), {{{2048, 512}, {512}, {512}}}), case_name);

TEST(layer_norm, rows_without_width_give_nothing) {
  const Variable x(zeros({2, 0}), true), weight(zeros({0}), true), bias(zeros({0}), true);
  layer_norm(x, weight, bias).backward(zeros({2, 0}));
  EXPECT_EQ(x.grad().shape(), (Shape{2, 0}));
  EXPECT_EQ(weight.grad().shape(), (Shape{0}));
}

TEST(layer_norm, a_large_offset_costs_no_precision) {
  const Variable x = tensor_of({{4096, 4097, 4098, 4099}}), one = ones({4}), none = zeros({4});
  const double step = 1 / std::sqrt(1.25 + 1e-5);  // the variance of 0, 1, 2, 3 is 1.25
  EXPECT_TRUE(
      close(layer_norm(x, one, none).data(), {-1.5 * step, -0.5 * step, 0.5 * step, 1.5 * step}, kF32));
}

TEST(layer_norm, many_rows_are_added_up_as_few_are) {
  // enough rows that several parts of them sum up the gradients of weight and bias
  constexpr int64_t kRows = 5000, kWidth = 3;
  const Tensor row = tensor_of({{1, 2, 4}}, DType::f64);
  const auto gradients = [&](int64_t rows) {
    const Variable weight(ones({kWidth}, DType::f64), true), bias(zeros({kWidth}, DType::f64), true);
    sum(layer_norm(row.expand({rows, kWidth}), weight, bias)).backward();
    return Variables{weight.grad(), bias.grad()};
  };
  const Variables many = gradients(kRows), one = gradients(1);
  EXPECT_TRUE(close(many[0].data(), (one[0] * kRows).data(), kF64));
  EXPECT_TRUE(close(many[1].data(), (one[1] * kRows).data(), kF64));
}

TEST(layer_norm, shapes_and_options_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3}), weight = zeros({3}), wide = zeros({4});
  expect_error<ShapeError>(
      [&] { return layer_norm(x, wide, weight); },
      "[layer_norm] wanted x (..., width) and weight and bias (width), came (2, 3), (4,) and (3,)");
  expect_error<ShapeError>([&] { return layer_norm(x, weight, wide); }, "came (2, 3), (3,) and (4,)");
  expect_error<ShapeError>([&] { return layer_norm(scalar(1), weight, weight); }, "came (), (3,) and (3,)");
  expect_error<DTypeError>([&] { return layer_norm(x, zeros({3}, DType::f64), weight); }, "f64(3,)");
  expect_error<ValueError>([&] { return layer_norm(x, weight, weight, -1); },
                           "[layer_norm] wanted an epsilon of 0 or more, came -1");
}

}  // namespace
}  // namespace heed::test
