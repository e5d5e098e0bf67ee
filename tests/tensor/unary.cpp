#include <heed/tensor/kernels/unary.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>
#include <limits>

#include <heed/tensor/creation.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

/// The kernel against the C library in f64: over random layouts, and over a range in one long run, where the
/// vector functions are at work.
void expect_function(Tensor (*kernel)(const Tensor&, Tensor*), const std::function<double(double)>& f,
                     double low, double high) {
  const auto expect_close = [&](const Tensor& x, const Tensor& y) {
    const double tolerance = x.dtype() == DType::f32 ? 1e-6 : 1e-14;
    const auto in = x.to_vector<double>(), out = y.to_vector<double>();
    for (size_t i = 0; i < in.size(); ++i) {
      const double wanted = f(in[i]);
      const bool same = wanted == out[i] || (std::isnan(wanted) && std::isnan(out[i]));
      const double error = std::abs(out[i] - wanted);
      ASSERT_TRUE(same || error <= tolerance * std::max(1.0, std::abs(wanted))) << in[i];
    }
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = linspace(low, high, 40'007, dtype);
    expect_close(x, kernel(x, nullptr));
  }
  EXPECT_TRUE(rc::check([&] {
    const Tensor x =
        test::any_tensor(test::any_shape(), test::any_between(0, 1) == 0 ? DType::f32 : DType::f64);
    const Tensor y = kernel(x, nullptr);
    RC_ASSERT(y.shape() == x.shape() && y.dtype() == x.dtype());
    expect_close(x, y);
  }));
}

/// f of infinity, -infinity and NaN, long enough for the vector functions.
std::vector<float> at_the_limits(Tensor (*kernel)(const Tensor&, Tensor*)) {
  const Tensor x = tensor_of({INFINITY, -INFINITY, NAN}).unsqueeze(1).expand({3, 64}).contiguous();
  const Tensor y = kernel(x, nullptr);
  for (int64_t column = 1; column < 64; ++column) EXPECT_EQ(y.at({0, column}), y.at({0, 0}));
  return y.select(1, 37).to_vector<float>();
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST(unary, neg) {
  expect_function(
      kernels::neg, [](double x) { return -x; }, -5, 5);
  EXPECT_TRUE(std::signbit(kernels::neg(scalar(0)).item()));
}
TEST(unary, exp) {
  expect_function(
      kernels::exp, [](double x) { return std::exp(x); }, -80, 80);
  const auto limits = at_the_limits(kernels::exp);
  EXPECT_EQ(limits[0], INFINITY);
  EXPECT_EQ(limits[1], 0);
  EXPECT_TRUE(std::isnan(limits[2]));
  EXPECT_EQ(kernels::exp(full({33}, 100)).at({32}), INFINITY);
  EXPECT_EQ(kernels::exp(full({33}, -200)).at({32}), 0);
}
TEST(unary, log) {
  expect_function(
      kernels::log, [](double x) { return std::log(x); }, 1e-6, 50);
  const auto limits = at_the_limits(kernels::log);
  EXPECT_EQ(limits[0], INFINITY);
  EXPECT_TRUE(std::isnan(limits[1]) && std::isnan(limits[2]));
  EXPECT_EQ(kernels::log(zeros({33})).at({32}), -INFINITY);
}
TEST(unary, sqrt) {
  expect_function(
      kernels::sqrt, [](double x) { return std::sqrt(x); }, 0, 100);
  EXPECT_TRUE(std::isnan(kernels::sqrt(scalar(-1)).item()));
}
TEST(unary, tanh) {
  expect_function(
      kernels::tanh, [](double x) { return std::tanh(x); }, -20, 20);
  const auto limits = at_the_limits(kernels::tanh);
  EXPECT_EQ(limits[0], 1);
  EXPECT_EQ(limits[1], -1);
  EXPECT_TRUE(std::isnan(limits[2]));
}
TEST(unary, sigmoid) {
  expect_function(kernels::sigmoid, sigmoid_of, -30, 30);
  const auto limits = at_the_limits(kernels::sigmoid);
  EXPECT_EQ(limits[0], 1);
  EXPECT_EQ(limits[1], 0);
  EXPECT_TRUE(std::isnan(limits[2]));
}
TEST(unary, relu) {
  expect_function(
      kernels::relu, [](double x) { return x < 0 ? 0 : x; }, -5, 5);
  const auto limits = at_the_limits(kernels::relu);
  EXPECT_EQ(limits[0], INFINITY);
  EXPECT_EQ(limits[1], 0);
  EXPECT_TRUE(std::isnan(limits[2]));
}

TEST(unary, rsqrt) {
  expect_function(
      kernels::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-3, 50);
  EXPECT_EQ(kernels::rsqrt(scalar(0)).item(), INFINITY);
}
TEST(unary, abs) {
  expect_function(
      kernels::abs, [](double x) { return std::fabs(x); }, -5, 5);
  EXPECT_FALSE(std::signbit(kernels::abs(scalar(-0.0)).item()));
}
TEST(unary, sign) {
  const auto signs = kernels::sign(tensor_of({-3, 0, 2, INFINITY, -INFINITY, NAN})).to_vector<float>();
  EXPECT_EQ(std::vector<float>(signs.begin(), signs.end() - 1), (std::vector<float>{-1, 0, 1, 1, -1}));
  EXPECT_TRUE(std::isnan(signs.back()));
}
TEST(unary, sin_and_cos) {
  expect_function(
      kernels::sin, [](double x) { return std::sin(x); }, -20, 20);
  expect_function(
      kernels::cos, [](double x) { return std::cos(x); }, -20, 20);
  EXPECT_TRUE(std::isnan(kernels::sin(scalar(INFINITY)).item()));
}
TEST(unary, erf) {
  expect_function(
      kernels::erf, [](double x) { return std::erf(x); }, -4, 4);
  const auto limits = at_the_limits(kernels::erf);
  EXPECT_EQ(limits[0], 1);
  EXPECT_EQ(limits[1], -1);
  EXPECT_TRUE(std::isnan(limits[2]));
}
TEST(unary, clamp) {
  const Tensor x = tensor_of({-3, -1, 0.5, 2, INFINITY, -INFINITY});
  EXPECT_EQ(kernels::clamp(x, -1, 1).to_vector<float>(), (std::vector<float>{-1, -1, 0.5, 1, 1, -1}));
  EXPECT_EQ(kernels::clamp_backward(ones({6}), x, -1, 1).to_vector<float>(),
            (std::vector<float>{0, 1, 1, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(kernels::clamp(scalar(NAN), -1, 1).item()));
  expect_error<ValueError>([&] { kernels::clamp(x, 1, NAN); }, "[clamp] wanted low <= high");
}

TEST(unary, relu_backward) {
  const Tensor x = tensor_of({-1, 0, 2, INFINITY, NAN});
  const Tensor grad = tensor_of({5, 6, 7, 8, 9});
  EXPECT_EQ(kernels::relu_backward(grad, x).to_vector<float>(), (std::vector<float>{0, 0, 7, 8, 0}));
  expect_error<DTypeError>([&] { kernels::relu_backward(grad, x.to(DType::f64)); },
                           "[relu_backward] wanted one dtype");
  expect_error<ShapeError>([&] { kernels::relu_backward(zeros({2}), x); },
                           "[relu_backward] shapes do not broadcast");
}

TEST(unary, takes_floats_only) {
  expect_error<DTypeError>([] { kernels::exp(zeros({2}, DType::i64)); },
                           "[exp] wanted f32 or f64, came i64(2,)");
  expect_error<DTypeError>([] { kernels::neg(zeros({2}, DType::boolean)); }, "[neg]");
  expect_error<DTypeError>([] { kernels::tanh(zeros({2}, DType::bf16)); }, "[tanh]");
  EXPECT_EQ(kernels::exp(zeros({0, 4})).shape(), (Shape{0, 4}));
}
