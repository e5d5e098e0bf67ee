#include <heed/tensor/kernels/reduce.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "reductions.h"

using namespace heed;
using heed::test::expect_error;

namespace {

/// The sums, added one by one in f64, of shape `x` with 1 for every summed axis.
Tensor naive_sum(const Tensor& x, const Dims& axes) {
  return test::reduce_naively(
      x, axes, [](const std::vector<double>& set) { return std::accumulate(set.begin(), set.end(), 0.0); });
}

/// Where all or any of the elements are 1.
Tensor naive_choice(const Tensor& x, const Dims& axes, bool all) {
  return test::reduce_naively(x, axes, [=](const std::vector<double>& set) {
    const auto count = std::ranges::count(set, 1.0);
    return all ? count == std::ssize(set) : count > 0;
  });
}

}  // namespace

TEST(reduce, sum_over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x =
        test::any_tensor(test::any_shape(), test::any_between(0, 1) == 0 ? DType::f32 : DType::f64);
    const Dims axes = test::any_axes(x.shape());
    const Tensor kept = kernels::sum(x, axes, true), dropped = kernels::sum(x, axes);
    const Tensor wanted = naive_sum(x, axes);
    RC_ASSERT(kept.shape() == wanted.shape() && kept.dtype() == x.dtype());
    RC_ASSERT(allclose(kept, wanted, 1e-5, 1e-5));
    RC_ASSERT(dropped.shape() == test::without_axes(x, axes));
    RC_ASSERT(identical(dropped.reshape(kept.shape()), kept));
  }));
}

TEST(reduce, sum_of_many_elements_in_every_arrangement) {
  Generator generator(1);
  const Tensor x = rand_uniform({70, 130, 90}, -1, 1, DType::f32, generator);
  const Tensor wide = x.to(DType::f64);
  for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}}) {
    const auto sums = kernels::sum(x, axes), exact = kernels::sum(wide, axes);
    const double terms = static_cast<double>(x.numel()) / static_cast<double>(sums.numel());
    EXPECT_TRUE(allclose(sums, exact, 1e-6, 1e-5 * std::sqrt(terms))) << to_string(axes);
  }
  double total = 0;
  for (const double value : wide.to_vector<double>()) total += value;
  EXPECT_NEAR(kernels::sum(x).item(), total, 1e-5 * std::sqrt(static_cast<double>(x.numel())));
}

TEST(reduce, sum_does_not_depend_on_the_threads) {
  Generator generator(2);
  const Tensor x = rand_uniform({1000, 3, 350}, -1, 1, DType::f32, generator);
  const int before = num_threads();
  for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}}) {
    set_num_threads(1);
    const Tensor one = kernels::sum(x, axes);
    set_num_threads(2);
    EXPECT_TRUE(identical(one, kernels::sum(x, axes))) << to_string(axes);
    set_num_threads(before);
  }
}

// (a) of the case: a running f32 sum stops at 16777216.
TEST(case_C41, twenty_million_ones) {
  const Tensor x = ones({20'000'000});
  EXPECT_EQ(kernels::sum(x).item(), 20'000'000);
  EXPECT_EQ(kernels::mean(x).item(), 1);
  EXPECT_EQ(kernels::sum(x.reshape({1, 20'000'000, 1}), {1}).item(), 20'000'000);
  EXPECT_EQ(kernels::sum(x.reshape({10'000'000, 2}), {0}).at({1}), 10'000'000);
  EXPECT_EQ(kernels::mean(x.reshape({2, 10'000'000}), {1}).at({0}), 1);
  EXPECT_EQ(kernels::sum(ones({1}).expand({20'000'000})).item(), 20'000'000);
}

// (b) of the case.
TEST(case_C41, many_tenths) {
  constexpr int64_t kCount = 1'392'640;
  const double wanted = static_cast<double>(0.1f) * kCount;
  EXPECT_NEAR(wanted, 139264.0021, 1e-4);
  const Tensor x = full({kCount}, 0.1);
  EXPECT_NEAR(kernels::sum(x).item(), wanted, 1e-5 * wanted);
  EXPECT_NEAR(kernels::sum(x.reshape({kCount / 4, 4}), {0}).at({3}), wanted / 4, 1e-5 * wanted / 4);
  EXPECT_NEAR(kernels::sum(x.reshape({2, kCount / 4, 2}), {1}).at({1, 1}), wanted / 4, 1e-5 * wanted / 4);
  EXPECT_NEAR(kernels::sum(x.reshape({2, kCount / 2}), {1}).at({1}), wanted / 2, 1e-5 * wanted / 2);
}

TEST(reduce, sums_of_nothing_are_zero) {
  EXPECT_EQ(kernels::sum(zeros({0})).item(), 0);
  EXPECT_TRUE(equal(kernels::sum(zeros({3, 0}), {1}), zeros({3})));
  EXPECT_TRUE(equal(kernels::sum(zeros({0, 3}), {0}), zeros({3})));
  EXPECT_TRUE(equal(kernels::sum(zeros({2, 0, 3}), {1}, true), zeros({2, 1, 3})));
  EXPECT_EQ(kernels::sum(zeros({3, 0}), {0}).shape(), (Shape{0}));
}

TEST(reduce, a_mean_whose_sum_is_out_of_range_is_not) {
  EXPECT_NEAR(kernels::mean(full({4096}, 3e35)).item(), 3e35, 1e30);
  EXPECT_NEAR(kernels::mean(full({4096, 3}, 3e35), {0}).at({2}), 3e35, 1e30);
}

TEST(reduce, infinities_and_nan) {
  EXPECT_EQ(kernels::sum(tensor_of({1, INFINITY, 2})).item(), INFINITY);
  EXPECT_TRUE(std::isnan(kernels::sum(tensor_of({INFINITY, -INFINITY})).item()));
  EXPECT_TRUE(std::isnan(kernels::mean(tensor_of({1, NAN})).item()));
}

TEST(reduce, whole_numbers) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const Tensor x = tensor_of({{1, 2}, {3, 4}}, DType::i64);
  EXPECT_EQ(kernels::sum(x, {0}).to_vector<int64_t>(), (std::vector<int64_t>{4, 6}));
  const std::vector<int64_t> large{kLargest, 1};
  const Tensor overflow = from_values<int64_t>(large, {2});
  EXPECT_EQ(kernels::sum(overflow).to_vector<int64_t>()[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(kernels::sum(overflow.unsqueeze(1).expand({2, 3}), {0}).to_vector<int64_t>()[2],
            std::numeric_limits<int64_t>::min());
  expect_error<DTypeError>([&] { kernels::mean(x); }, "[mean] wanted f32, f64 or bf16, came i64(2, 2)");
}

TEST(reduce, mean_divides_by_the_count) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = test::any_tensor(test::any_shape());
    RC_PRE(x.numel() > 0);
    const Dims axes = test::any_axes(x.shape());
    const Tensor mean = kernels::mean(x, axes, true), total = naive_sum(x, axes);
    const double count = static_cast<double>(x.numel()) / static_cast<double>(total.numel());
    test::for_each_index(total.shape(), [&](const std::vector<int64_t>& index) {
      RC_ASSERT(std::abs(test::get(mean, index) - test::get(total, index) / count) < 1e-14);
    });
  }));
  for (int64_t count = 1; count < 200; ++count) EXPECT_EQ(kernels::mean(ones({count})).item(), 1) << count;
  expect_error<ValueError>(
      [] {
        kernels::mean(zeros({2, 0}), {1});
      },
      "[mean] what is reduced has no elements: shape (2, 0), axes (1,)");
  EXPECT_EQ(kernels::mean(zeros({2, 0}), {0}).shape(), (Shape{0}));
}

TEST(reduce, axes_are_checked) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::sum(x, {2}); }, "[sum] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::sum(x, {0, -2}); }, "[sum] wanted every axis once, came (0, -2)");
  expect_error<DTypeError>([&] { kernels::sum(zeros({2}, DType::boolean)); },
                           "[sum] wanted numbers, came bool(2,)");
  expect_error<IndexError>([&] { kernels::mean(x, {2}); }, "[mean] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::mean(x, {1, 1}); }, "[mean] wanted every axis once, came (1, 1)");
  expect_error<DTypeError>([] { kernels::all_finite(zeros({2}, DType::i64)); },
                           "[all_finite] wanted f32, f64 or bf16, came i64(2,)");
}

TEST(reduce, bf16_is_added_up_in_f32_and_rounded_once) {
  const Tensor ones_in_bf16 = ones({1000}, DType::bf16);  // in bf16, 256 + 1 is 256
  EXPECT_EQ(kernels::sum(ones_in_bf16).item(), 1000);
  EXPECT_EQ(kernels::mean(ones_in_bf16).item(), 1);
  const Tensor x = rand_normal({7, 30}).to(DType::bf16), wide = x.to(DType::f32);
  EXPECT_TRUE(equal(kernels::sum(x, {1}), kernels::sum(wide, {1}).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::mean(x, {0}), kernels::mean(wide, {0}).to(DType::bf16)));
}

TEST(reduce, sum_to_undoes_expand) {
  EXPECT_TRUE(rc::check([] {
    const Shape whole = test::any_shape();
    const Tensor x = test::any_tensor(whole);
    const Shape shape = test::any_shape_below(whole);
    const Tensor result = kernels::sum_to(x, shape);
    RC_ASSERT(result.shape() == shape);
    Tensor wanted = zeros(shape, DType::f64);
    test::for_each_index(whole, [&](const std::vector<int64_t>& index) {
      Tensor place = wanted;
      for (const int64_t i : test::broadcast_index(index, shape)) place = place.select(0, i);
      place.set({}, place.item() + test::get(x, index));
    });
    RC_ASSERT(allclose(result, wanted, 1e-12, 1e-12));
  }));
  expect_error<ShapeError>(
      [] {
        kernels::sum_to(zeros({2, 3}), {2});
      },
      "[sum_to] shape (2,) does not expand to (2, 3)");
}

TEST(reduce, any_and_all_over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = kernels::gt(test::any_tensor(test::any_shape()), scalar(-1, DType::f64));
    const Dims axes = test::any_axes(x.shape());
    for (const bool all : {false, true}) {
      const auto run = all ? kernels::all : kernels::any;
      const Tensor kept = run(x, axes, true), dropped = run(x, axes, false);
      RC_ASSERT(kept.dtype() == DType::boolean);
      RC_ASSERT(equal(kept.to(DType::f64), naive_choice(x, axes, all)));
      RC_ASSERT(dropped.shape() == test::without_axes(x, axes));
      RC_ASSERT(identical(dropped.reshape(kept.shape()), kept));
    }
  }));
}

TEST(reduce, any_and_all_find_one_among_many) {
  constexpr int64_t kRows = 1100, kColumns = 1300;
  for (const int64_t row : {int64_t{0}, int64_t{700}, kRows - 1}) {
    Tensor x = zeros({kRows, kColumns}, DType::boolean);
    EXPECT_FALSE(kernels::any(x).item());
    x.set({row, 1050}, 1);
    EXPECT_TRUE(kernels::any(x).item());
    EXPECT_FALSE(kernels::all(x).item());
    EXPECT_EQ(kernels::sum(kernels::any(x, {0}).to(DType::i64)).item(), 1);
    EXPECT_TRUE(kernels::any(x, {0}).at({1050}));
    EXPECT_EQ(kernels::sum(kernels::any(x, {1}).to(DType::i64)).item(), 1);
    EXPECT_TRUE(kernels::any(x, {1}).at({row}));
    const Tensor y = kernels::logical_not(x);
    EXPECT_FALSE(kernels::all(y).item());
    EXPECT_FALSE(kernels::all(y, {0}).at({1050}));
    EXPECT_EQ(kernels::sum(kernels::all(y, {1}).to(DType::i64)).item(), kRows - 1);
  }
}

TEST(reduce, any_and_all_of_nothing) {
  const Tensor none = zeros({3, 0}, DType::boolean);
  EXPECT_TRUE(equal(kernels::any(none, {1}), zeros({3}, DType::boolean)));
  EXPECT_TRUE(equal(kernels::all(none, {1}), ones({3}, DType::boolean)));
  EXPECT_FALSE(kernels::any(none).item());
  EXPECT_TRUE(kernels::all(none).item());
  EXPECT_EQ(kernels::all(none, {0}).shape(), (Shape{0}));
  expect_error<DTypeError>([] { kernels::any(zeros({2})); }, "[any] wanted bool, came f32(2,)");
  expect_error<DTypeError>([] { kernels::all(zeros({2}, DType::i64)); }, "[all] wanted bool, came i64(2,)");
  expect_error<IndexError>([&] { kernels::any(none, {2}); }, "[any] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::all(none, {1, 1}); }, "[all] wanted every axis once, came (1, 1)");
}

TEST(reduce, sum_of_squares_and_all_finite) {
  EXPECT_EQ(kernels::sum_of_squares(tensor_of({{1, 2}, {3, 4}}).transpose(0, 1)), 30);
  EXPECT_NEAR(kernels::sum_of_squares(full({100'000}, 1e30)), 1e65, 1e59);
  EXPECT_EQ(kernels::sum_of_squares(zeros({0})), 0);
  EXPECT_TRUE(kernels::all_finite(tensor_of({1, -3e38})));
  EXPECT_TRUE(kernels::all_finite(zeros({0})));
  EXPECT_FALSE(kernels::all_finite(tensor_of({1, NAN})));
  EXPECT_FALSE(kernels::all_finite(tensor_of({-INFINITY}, DType::f64)));
  EXPECT_TRUE(kernels::all_finite(tensor_of({1, -3e38}, DType::bf16)));
  EXPECT_FALSE(kernels::all_finite(tensor_of({1, NAN}, DType::bf16)));
  expect_error<DTypeError>([] { kernels::sum_of_squares(zeros({2}, DType::i64)); }, "[sum_of_squares]");
}
