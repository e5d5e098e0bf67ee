#include <cmath>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

OpCase norm_case(const std::string& name, double epsilon, std::vector<Variant> small = {}) {
  return {name,
          [epsilon](In x, Args) { return Variables{rms_norm(x[0], x[1], epsilon)}; },
          [epsilon](In x, Args) {
            const double width = static_cast<double>(x[0].size(-1));
            const Variable squares = sum(x[0].pow(2), {-1}, true) / width;
            return Variables{x[0] / sqrt(squares + epsilon) * x[1]};
          },
          std::move(small),
          {{{{3, 67}, {67}}}}};
}

std::vector<OpCase> cases() {
  return {norm_case("rms_norm", 1e-5,
                    {{{{1}, {1}}}, {{{1, 1}, {1}}}, {{{4}, {4}}}, {{{0, 3}, {3}}}, {{{2, 0, 3}, {3}}}}),
          norm_case("rms_norm_deep", 1e-5), norm_case("rms_norm_row", 1e-5),
          norm_case("rms_norm_epsilon", 0.1)};
}

INSTANTIATE_TEST_SUITE_P(rms_norm, OpTest, op_cases(cases(), {{{2048, 512}, {512}}}), case_name);

TEST(rms_norm, rows_of_zeros_stay_zeros) {
  const Variable x(zeros({2, 3}), true), weight(ones({3}), true);
  const Variable y = rms_norm(x, weight);
  EXPECT_TRUE(close(y.data(), {0, 0, 0, 0, 0, 0}, kExact));
  y.backward(ones({2, 3}));
  const double slope = 1 / std::sqrt(1e-5);
  EXPECT_TRUE(close(x.grad().data(), std::vector<double>(6, slope), kF32));
  EXPECT_TRUE(close(weight.grad().data(), {0, 0, 0}, kExact));
}

TEST(rms_norm, rows_without_width_give_nothing) {
  const Variable x(zeros({2, 0}), true), weight(zeros({0}), true);
  rms_norm(x, weight).backward(zeros({2, 0}));
  EXPECT_EQ(x.grad().shape(), (Shape{2, 0}));
  EXPECT_EQ(weight.grad().shape(), (Shape{0}));
}

TEST(rms_norm, many_rows_are_added_up_as_few_are) {
  // enough rows that several parts of them sum up the gradient of the weight
  constexpr int64_t kRows = 50'000, kWidth = 3;
  const Tensor row = tensor_of({{1, 2, 4}}, DType::f64);
  const auto gradient = [&](int64_t rows) {
    const Variable weight(ones({kWidth}, DType::f64), true);
    sum(rms_norm(row.expand({rows, kWidth}), weight)).backward();
    return weight.grad();
  };
  EXPECT_TRUE(close(gradient(kRows).data(), (gradient(1) * kRows).data(), kF64));
}

TEST(rms_norm, shapes_and_options_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3}), weight = zeros({3});
  expect_error<ShapeError>([&] { return rms_norm(x, zeros({4})); },
                           "[rms_norm] wanted x (..., width) and weight (width), came (2, 3) and (4,)");
  expect_error<ShapeError>([&] { return rms_norm(scalar(1), weight); }, "came () and (3,)");
  expect_error<DTypeError>([&] { return rms_norm(x, zeros({3}, DType::f64)); }, "f64(3,)");
  expect_error<DTypeError>([] { return rms_norm(zeros({2}, DType::i64), zeros({2}, DType::i64)); },
                           "[rms_norm] wanted f32 or f64, came i64(2,)");
  expect_error<ValueError>([&] { return rms_norm(x, weight, -1); },
                           "[rms_norm] wanted an epsilon of 0 or more, came -1");
  expect_error<ValueError>([&] { return rms_norm(x, weight, NAN); }, "came nan");
}

}  // namespace
}  // namespace heed::test
