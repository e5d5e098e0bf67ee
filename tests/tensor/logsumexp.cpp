#include <heed/tensor/kernels/logsumexp.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "reductions.h"

using namespace heed;
using heed::test::expect_error;

namespace {

Tensor naive_logsumexp(const Tensor& x, const Dims& axes) {
  return test::reduce_naively(x, axes, [](const std::vector<double>& set) {
    double total = 0;
    for (const double value : set) total += std::exp(value);
    return std::log(total);
  });
}

}  // namespace

TEST(logsumexp, over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = test::any_tensor(test::any_shape(), *rc::gen::element(DType::f32, DType::f64));
    const Dims axes = test::any_axes(x.shape());
    const Tensor kept = kernels::logsumexp(x, axes, true), dropped = kernels::logsumexp(x, axes);
    RC_ASSERT(kept.dtype() == x.dtype());
    RC_ASSERT(allclose(kept, naive_logsumexp(x, axes), 1e-6, 1e-6));
    RC_ASSERT(dropped.shape() == test::without_axes(x, axes));
    RC_ASSERT(equal(dropped.reshape(kept.shape()), kept));
  }));
}

TEST(logsumexp, of_many_elements_in_every_arrangement) {
  // log(n) for equal elements, wherever they lie
  for (const double value : {-1e4, 0.0, 1e4})
    for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}}) {
      const Tensor x = full({70, 130, 90}, value, DType::f64), y = kernels::logsumexp(x, axes);
      const double wanted = value + std::log(static_cast<double>(x.numel() / y.numel()));
      EXPECT_TRUE(allclose(y, full(y.shape(), wanted, DType::f64), 1e-14, 1e-12)) << to_string(axes);
    }
}

TEST(logsumexp, large_elements_do_not_overflow) {
  EXPECT_FLOAT_EQ(static_cast<float>(kernels::logsumexp(tensor_of({1000, 1000})).item()),
                  1000 + std::log(2.0f));
  EXPECT_FLOAT_EQ(static_cast<float>(kernels::logsumexp(tensor_of({-1000, -1000})).item()),
                  -1000 + std::log(2.0f));
  EXPECT_EQ(kernels::logsumexp(tensor_of({3e38, -3e38})).item(), double{3e38f});
}

TEST(logsumexp, infinities_and_nan) {
  const Tensor x = tensor_of({{-INFINITY, -INFINITY, -INFINITY},
                              {-INFINITY, 2, -INFINITY},
                              {INFINITY, 1e30, 3},
                              {INFINITY, -INFINITY, INFINITY}});
  const Tensor wanted = tensor_of({-INFINITY, 2, INFINITY, INFINITY});
  const Tensor wide = x.unsqueeze(2).expand({4, 3, 40}).permute({0, 2, 1}).contiguous();
  EXPECT_TRUE(equal(kernels::logsumexp(x, {1}), wanted));
  EXPECT_TRUE(equal(kernels::logsumexp(x.transpose(0, 1).contiguous(), {0}), wanted));
  EXPECT_TRUE(equal(kernels::logsumexp(wide, {2}).select(1, 39), wanted));
  for (const double other : {1.0, double{INFINITY}, -double{INFINITY}}) {
    EXPECT_TRUE(std::isnan(kernels::logsumexp(tensor_of({other, NAN})).item())) << other;
    EXPECT_TRUE(std::isnan(kernels::logsumexp(tensor_of({NAN, other})).item())) << other;
  }
}

TEST(logsumexp, of_nothing_is_minus_infinity) {
  EXPECT_EQ(kernels::logsumexp(zeros({0})).item(), -INFINITY);
  EXPECT_TRUE(equal(kernels::logsumexp(zeros({3, 0}), {1}), full({3}, -INFINITY)));
  EXPECT_TRUE(equal(kernels::logsumexp(zeros({0, 3}), {0}, true), full({1, 3}, -INFINITY)));
  EXPECT_EQ(kernels::logsumexp(zeros({3, 0}), {0}).shape(), (Shape{0}));
}

TEST(logsumexp, arguments_are_checked) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::logsumexp(x, {2}); },
                           "[logsumexp] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::logsumexp(x, {0, -2}); }, "[logsumexp] wanted every axis once");
  expect_error<DTypeError>([&] { kernels::logsumexp(x.to(DType::i64)); },
                           "[logsumexp] wanted f32 or f64, came i64(2, 3)");
}

TEST(logsumexp, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(2);
  const Tensor x = rand_normal({100, 30, 350}, 0, 1, DType::f32, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> results;
    for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}})
      results.push_back(kernels::logsumexp(x, axes));
    return results;
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2), three = evaluate(3);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(identical(one[i], two[i]) && identical(one[i], three[i])) << i;
}
