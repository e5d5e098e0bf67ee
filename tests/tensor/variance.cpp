#include <heed/tensor/kernels/variance.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "reductions.h"

using namespace heed;
using heed::test::expect_error;

namespace {

Tensor naive_variance(const Tensor& x, const Dims& axes, int64_t correction) {
  return test::reduce_naively(x, axes, [=](const std::vector<double>& set) {
    const auto count = static_cast<double>(set.size());
    const double mean = std::accumulate(set.begin(), set.end(), 0.0) / count;
    double squares = 0;
    for (const double value : set) squares += (value - mean) * (value - mean);
    return squares / (count - static_cast<double>(correction));
  });
}

}  // namespace

TEST(variance, over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = test::any_tensor(test::any_shape(), *rc::gen::element(DType::f32, DType::f64));
    const Dims axes = test::any_axes(x.shape());
    const int64_t correction = test::any_between(0, 2);
    RC_PRE(x.numel() > 0);
    RC_PRE(x.numel() / element_count(reduced_shape("test", x.shape(), axes, false)) > correction);
    const Tensor kept = kernels::var(x, axes, {.correction = correction, .keep_axes = true});
    RC_ASSERT(kept.dtype() == x.dtype());
    RC_ASSERT(allclose(kept, naive_variance(x, axes, correction), 1e-6, 1e-12));
    const Tensor dropped = kernels::var(x, axes, {.correction = correction});
    RC_ASSERT(dropped.shape() == test::without_axes(x, axes));
    RC_ASSERT(identical(dropped.reshape(kept.shape()), kept));
  }));
}

TEST(variance, a_sample_of_its_own_mean_has_one_degree_less) {
  const Tensor x = tensor_of({1, 2, 3, 4});
  EXPECT_FLOAT_EQ(static_cast<float>(kernels::var(x).item()), 5.0f / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(kernels::var(x, {}, {.correction = 0}).item()), 1.25f);
  EXPECT_EQ(kernels::var(tensor_of({7}), {}, {.correction = 0}).item(), 0);
}

TEST(variance, a_large_mean_costs_no_digits) {
  // steps of 1/16, which f32 still holds at a million; the variance of 0 ... 15 is 21.25
  Tensor x = Tensor::empty({160'000});
  auto values = x.mutable_span<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1e6f + static_cast<float>(i % 16) / 16;
  const double wanted = 21.25 / 256;
  const kernels::VarianceOptions options{.correction = 0};
  EXPECT_NEAR(kernels::var(x, {}, options).item(), wanted, 1e-6 * wanted);
  EXPECT_NEAR(kernels::var(x.reshape({10'000, 16}), {1}, options).at({77}), wanted, 1e-6 * wanted);
  EXPECT_NEAR(kernels::var(x.reshape({16, 10'000}).transpose(0, 1), {0}, options).at({3}), wanted,
              1e-6 * wanted);
  const Tensor columns = x.reshape({10, 1000, 16}).transpose(1, 2).contiguous();
  EXPECT_NEAR(kernels::var(columns, {1}, options).at({2, 3}), wanted, 1e-6 * wanted);
  const Tensor wide = from_values<double>(std::vector<double>{1e12, 1e12 + 1, 1e12 + 2}, {3});
  EXPECT_EQ(kernels::var(wide).item(), 1);
}

TEST(variance, squares_beyond_the_range_of_f32_may_have_a_variance_within_it) {
  Tensor x = full({1000}, 1e19);
  x.slice(0, 0, 1000, 2).fill(-1e19);
  EXPECT_FLOAT_EQ(static_cast<float>(kernels::var(x, {}, {.correction = 0}).item()), 1e38f);
}

TEST(variance, infinities_and_nan_give_nan) {
  EXPECT_TRUE(std::isnan(kernels::var(tensor_of({1, INFINITY, 2})).item()));
  EXPECT_TRUE(std::isnan(kernels::var(tensor_of({1, NAN, 2})).item()));
}

TEST(variance, needs_more_elements_than_the_correction) {
  EXPECT_EQ(kernels::var(zeros({0, 3}), {1}).shape(), (Shape{0}));
  EXPECT_EQ(kernels::var(zeros({0, 1}), {1}, {.keep_axes = true}).shape(), (Shape{0, 1}));
  expect_error<ValueError>([] { kernels::var(scalar(1)); },
                           "[var] wanted more than 1 elements, came 1: shape (), axes ()");
  expect_error<ValueError>(
      [] {
        kernels::var(zeros({3, 0}), {1}, {.correction = 0});
      },
      "[var] wanted more than 0 elements, came 0: shape (3, 0), axes (1,)");
  expect_error<ValueError>(
      [] {
        kernels::var(zeros({3, 2}), {1}, {.correction = 2});
      },
      "wanted more than 2 elements, came 2");
  expect_error<ValueError>([] { kernels::var(zeros({3}), {}, {.correction = -1}); },
                           "[var] wanted a correction of 0 or more, came -1");
}

TEST(variance, arguments_are_checked) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::var(x, {2}); }, "[var] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::var(x, {0, -2}); }, "[var] wanted every axis once, came (0, -2)");
  expect_error<DTypeError>([&] { kernels::var(x.to(DType::i64)); },
                           "[var] wanted f32 or f64, came i64(2, 3)");
}

TEST(variance, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(2);
  const Tensor x = rand_normal({100, 30, 350}, 0, 1, DType::f32, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> results;
    for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}})
      results.push_back(kernels::var(x, axes));
    return results;
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2), three = evaluate(3);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(identical(one[i], two[i]) && identical(one[i], three[i])) << i;
}
