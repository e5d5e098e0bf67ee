#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/arithmetic.h>

#include <cmath>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

using Variables = std::vector<Variable>;
using In = std::span<const Variable>;

Variable leaf(const Tensor& tensor) { return Variable(tensor, true); }

/// x * x, whose backward forgets the 2.
Variable wrong_square(const Variable& x) {
  return record("wrong_square", kernels::mul(x.data(), x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return back.grad() * back.value(x); });
  });
}

/// x * x, whose gradient is right but is not differentiable again.
Variable flat_square(const Variable& x) {
  return record("flat_square", kernels::mul(x.data(), x.data()), {&x}, [x = Saved(x)](Backward& back) {
    back.give(0, [&] { return back.grad() * back.value(x).detach() * 2; });
  });
}

TEST(gradcheck, right_derivatives_pass) {
  const Variables in{leaf(tensor_of({{1, 2}, {3, 4}}, DType::f64)), leaf(tensor_of({5, 6}, DType::f64))};
  const auto f = [](In x) { return Variables{x[0] * x[1], x[0].exp()}; };
  const GradcheckReport first = gradcheck(f, in), second = gradgradcheck(f, in);
  EXPECT_TRUE(first) << first.failure;
  EXPECT_TRUE(second) << second.failure;
  EXPECT_LT(first.largest_error, 1e-7);
  EXPECT_TRUE(first.failure.empty());
}

TEST(gradcheck, a_wrong_derivative_is_reported_with_its_place_and_both_numbers) {
  const Variables in{leaf(tensor_of({1}, DType::f64)), leaf(tensor_of({{0, 0}, {3, 0}}, DType::f64))};
  const auto f = [](In x) { return Variables{x[0] + wrong_square(x[1])}; };
  const GradcheckReport report = gradcheck(f, in);
  EXPECT_FALSE(report);
  // the weight w of that output is in [0.5, 1.5): 3w was found where 6w is right
  double analytic = 0, numeric = 0;
  const int found =
      std::sscanf(report.failure.c_str(), "[gradcheck] input 1 at (1, 0): analytic %lf, numeric %lf",
                  &analytic, &numeric);
  ASSERT_EQ(found, 2) << report.failure;
  EXPECT_GE(analytic, 1.5);
  EXPECT_LT(analytic, 4.5);
  EXPECT_NEAR(numeric, 2 * analytic, 1e-6);
  EXPECT_GT(report.largest_error, 0.1);
}

TEST(gradcheck, a_missing_second_derivative_is_found) {
  const Variables in{leaf(tensor_of({1, 2}, DType::f64))};
  const auto f = [](In x) { return Variables{flat_square(x[0])}; };
  EXPECT_TRUE(gradcheck(f, in));
  const GradcheckReport report = gradgradcheck(f, in);
  EXPECT_FALSE(report);
  EXPECT_NE(report.failure.find("input 0 at (0,)"), std::string::npos) << report.failure;
}

TEST(gradcheck, a_gradient_that_is_cut_off_is_found) {
  const Variables in{leaf(tensor_of({1, 2}, DType::f64))};
  EXPECT_FALSE(gradcheck([](In x) { return Variables{x[0] * x[0].detach()}; }, in));
}

TEST(gradcheck, every_output_counts) {
  const Variables in{leaf(tensor_of({1, 2}, DType::f64))};
  EXPECT_FALSE(gradcheck([](In x) { return Variables{x[0] * 2, wrong_square(x[0])}; }, in));
}

TEST(gradcheck, errors_of_opposite_sign_do_not_cancel) {
  const Variables in{leaf(tensor_of({1, 2}, DType::f64))};
  // both outputs are wrong by the same amount, one up and one down
  EXPECT_FALSE(gradcheck([](In x) { return Variables{wrong_square(x[0]), -wrong_square(x[0])}; }, in));
}

TEST(gradcheck, only_f64_can_be_checked) {
  const Variables in{leaf(tensor_of({1}, DType::f64)), leaf(tensor_of({1, 2}, DType::f32))};
  expect_error<DTypeError>([&] { gradcheck([](In x) { return Variables{x[0] * 2}; }, in); },
                           "[gradcheck] wanted f64 inputs, came f32(2,) as input 1");
  expect_error<DTypeError>([&] { gradgradcheck([](In x) { return Variables{x[0] * 2}; }, in); }, "f32(2,)");
}

TEST(gradcheck, constants_of_any_dtype_are_left_alone) {
  const Variables in{leaf(tensor_of({{1, 2}, {3, 4}}, DType::f64)), tensor_of({1, 0, 1}, DType::i64)};
  const auto f = [](In x) { return Variables{embedding(x[0], x[1].data())}; };
  EXPECT_TRUE(gradcheck(f, in));
  EXPECT_TRUE(gradgradcheck(f, in));
}

TEST(gradcheck, one_variable_given_twice_is_moved_as_one) {
  const Variable x = leaf(tensor_of({2, 3}, DType::f64));
  EXPECT_TRUE(gradcheck([](In in) { return Variables{in[0] * in[1]}; }, Variables{x, x}));
}

TEST(gradcheck, leaves_its_inputs_as_they_were) {
  const Variable x = leaf(tensor_of({2, 3}, DType::f64));
  EXPECT_TRUE(gradcheck([](In in) { return Variables{in[0] * in[0]}; }, {&x, 1}));
  EXPECT_TRUE(close(x.data(), {2, 3}, kExact));
  EXPECT_FALSE(x.grad().defined());
}

TEST(gradcheck, a_kink_can_be_seen_and_a_larger_step_chosen) {
  const Variable at_the_kink = leaf(tensor_of({0}, DType::f64)),
                 beside_it = leaf(tensor_of({0.1}, DType::f64));
  const auto f = [](In x) { return Variables{x[0].relu()}; };
  EXPECT_FALSE(gradcheck(f, {&at_the_kink, 1}));
  EXPECT_TRUE(gradcheck(f, {&beside_it, 1}, {.step = 1e-2}));
  EXPECT_FALSE(gradcheck(f, {&beside_it, 1}, {.step = 0.5}));
}

TEST(gradcheck, values_at_a_kink_can_be_left_out) {
  const Variables in{leaf(tensor_of({-1, 0, 1e-8, 2}, DType::f64))};
  const auto f = [](In x) { return Variables{relu(x[0])}; };
  EXPECT_FALSE(gradcheck(f, in));
  const GradcheckReport report =
      gradcheck(f, in, {.excluded = [](size_t input, double x) { return input == 0 && std::abs(x) < 1e-5; }});
  EXPECT_TRUE(report) << report.failure;
  EXPECT_EQ(report.compared, 2);
}

TEST(gradcheck, of_many_elements_some_are_checked) {
  const Variable x = leaf(full({100}, 2, DType::f64));
  int calls = 0;
  const auto f = [&](In in) {
    ++calls;
    return Variables{in[0] * in[0]};
  };
  EXPECT_TRUE(gradcheck(f, {&x, 1}, {.most_elements = 10}));
  EXPECT_EQ(calls, 1 + 2 * 10);
  calls = 0;
  EXPECT_TRUE(gradcheck(f, {&x, 1}, {.most_elements = 70}));
  EXPECT_LE(calls, 1 + 2 * 70);
}

TEST(gradcheck, a_function_without_gradient_has_derivative_zero) {
  const Variable x = leaf(tensor_of({2, 3}, DType::f64));
  EXPECT_TRUE(gradcheck([](In) { return Variables{ones({2}, DType::f64)}; }, {&x, 1}));
  EXPECT_TRUE(gradgradcheck([](In) { return Variables{ones({2}, DType::f64)}; }, {&x, 1}));
  EXPECT_TRUE(gradgradcheck([](In in) { return Variables{in[0] * 3}; }, {&x, 1}));
}

}  // namespace
}  // namespace heed::test
