#include <heed/tensor/kernels/gelu.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::kernels::GeluForm;
using heed::test::expect_error;

namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

const double kInner = std::sqrt(2 / std::numbers::pi);

double value_of(double x, GeluForm form) {
  if (form == GeluForm::exact) return x * std::erfc(-x / std::numbers::sqrt2) / 2;
  return x / 2 * (1 + std::tanh(kInner * (x + 0.044715 * x * x * x)));
}

double slope_of(double x, GeluForm form) {
  if (form == GeluForm::exact)
    return std::erfc(-x / std::numbers::sqrt2) / 2 +
           x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  const double t = std::tanh(kInner * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * kInner * (1 + 3 * 0.044715 * x * x);
}

void expect_close(const Tensor& x, const Tensor& grad, GeluForm form) {
  const Tensor y = kernels::gelu(x, form), dx = kernels::gelu_backward(grad, x, form);
  ASSERT_TRUE(y.shape() == x.shape() && y.dtype() == x.dtype());
  ASSERT_TRUE(dx.shape() == x.shape() && dx.dtype() == x.dtype());
  const double tolerance = x.dtype() == DType::f32 ? 1e-6 : 1e-14;
  const auto in = x.to_vector<double>(), upstream = grad.to_vector<double>(), out = y.to_vector<double>(),
             slopes = dx.to_vector<double>();
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_NEAR(out[i], value_of(in[i], form), tolerance * std::max(1.0, std::abs(in[i]))) << in[i];
    const double slope = upstream[i] * slope_of(in[i], form);
    ASSERT_NEAR(slopes[i], slope, tolerance * std::max(1.0, std::abs(upstream[i]))) << in[i];
  }
}

}  // namespace

class GeluTest : public testing::TestWithParam<GeluForm> {};

INSTANTIATE_TEST_SUITE_P(gelu, GeluTest, testing::Values(GeluForm::exact, GeluForm::tanh),
                         [](const auto& form) { return form.param == GeluForm::exact ? "exact" : "tanh"; });

TEST_P(GeluTest, is_the_formula_over_a_range) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = linspace(-12, 12, 40'007, dtype);
    expect_close(x, linspace(-3, 3, 40'007, dtype), GetParam());
  }
}

TEST_P(GeluTest, takes_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const DType dtype = test::any_between(0, 1) == 0 ? DType::f32 : DType::f64;
    const Shape shape = test::any_shape();
    expect_close(test::any_tensor(shape, dtype), test::any_tensor(shape, dtype), GetParam());
  }));
}

TEST_P(GeluTest, has_its_limits_at_the_ends) {
  // once beside one another, once far apart: the loops that vectorize and those that do not
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::vector<double> points{-INFINITY, -kLargest, -1e20, -1e6,     -50,     0,
                                     50,        1e6,       1e20,  kLargest, INFINITY};
    const auto count = std::ssize(points);
    const Tensor column = from_values<double>(points, {count, 1}).to(dtype);
    for (const Tensor& x : {column.expand({count, 64}), column.expand({count, 64}).contiguous()}) {
      const Tensor y = kernels::gelu(x, GetParam());
      const Tensor slope = kernels::gelu_backward(ones(x.shape(), dtype), x, GetParam());
      for (int64_t i = 0; i < count; ++i) {
        const double at = x.at({i, 37});
        EXPECT_EQ(y.at({i, 37}), at > 0 ? at : 0) << at;
        EXPECT_EQ(slope.at({i, 37}), at > 0 ? 1 : at < 0 ? 0 : 0.5) << at;
      }
    }
  }
}

TEST_P(GeluTest, nan_stays_nan) {
  const Tensor nan = full({67}, NAN), one = ones({67});
  const auto all_nan = [](const Tensor& x) {
    for (const float value : x.to_vector<float>()) EXPECT_TRUE(std::isnan(value));
  };
  all_nan(kernels::gelu(nan, GetParam()));
  all_nan(kernels::gelu_backward(one, nan, GetParam()));
  all_nan(kernels::gelu_backward(nan, one, GetParam()));
}

TEST_P(GeluTest, empty_and_single_elements) {
  EXPECT_EQ(kernels::gelu(zeros({0, 4}), GetParam()).shape(), (Shape{0, 4}));
  EXPECT_EQ(kernels::gelu_backward(zeros({0, 4}), zeros({0, 4}), GetParam()).shape(), (Shape{0, 4}));
  EXPECT_EQ(kernels::gelu(scalar(0), GetParam()).item(), 0);
  EXPECT_EQ(kernels::gelu(scalar(0), GetParam()).shape(), Shape{});
}

TEST_P(GeluTest, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(4);
  const Tensor x = rand_normal({700, 301}, 0, 1, DType::f32, generator).transpose(0, 1),
               grad = rand_normal({301, 700}, 0, 1, DType::f32, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    return std::vector{kernels::gelu(x, GetParam()), kernels::gelu(grad, GetParam()),
                       kernels::gelu_backward(grad, x, GetParam())};
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], two[i])) << i;
}

TEST(gelu, the_forms_differ_a_little) {
  EXPECT_NEAR(kernels::gelu(scalar(1)).item(), 0.8413447, 1e-6);
  EXPECT_NEAR(kernels::gelu(scalar(1), GeluForm::tanh).item(), 0.8411920, 1e-6);
  EXPECT_EQ(kernels::gelu(scalar(1)).item(), kernels::gelu(scalar(1), GeluForm::exact).item());
}

TEST(gelu, checks_dtypes_and_shapes) {
  expect_error<DTypeError>([] { kernels::gelu(zeros({2}, DType::i64)); },
                           "[gelu] wanted f32 or f64, came i64(2,)");
  expect_error<DTypeError>([] { kernels::gelu(zeros({2}, DType::bf16)); }, "[gelu]");
  expect_error<DTypeError>([] { kernels::gelu(zeros({2}, DType::boolean), GeluForm::tanh); }, "[gelu]");
  expect_error<DTypeError>([] { kernels::gelu_backward(zeros({2}), zeros({2}, DType::f64)); },
                           "[gelu_backward] wanted one dtype, came f32(2,) and f64(2,)");
  expect_error<DTypeError>([] { kernels::gelu_backward(zeros({2}, DType::i64), zeros({2}, DType::i64)); },
                           "[gelu_backward] wanted f32 or f64, came i64(2,)");
  expect_error<ShapeError>([] { kernels::gelu_backward(zeros({1}), zeros({2})); },
                           "[gelu_backward] wanted one shape, came (1,) and (2,)");
}
