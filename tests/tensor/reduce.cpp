#include <heed/tensor/kernels/reduce.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

/// Some of a shape's axes, each at most once, counted from either end.
Dims any_axes(const Shape& shape) {
  Dims axes;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (test::any_between(0, 1) == 0)
      axes.push_back(test::any_between(0, 1) == 0 ? axis : axis - shape.rank());
  return axes;
}

/// The sums, added one by one in f64, of shape `x` with 1 for every summed axis.
Tensor naive_sum(const Tensor& x, const Dims& axes) {
  Shape shape = x.shape();
  for (int64_t axis : axes) shape[axis < 0 ? axis + x.rank() : axis] = 1;
  if (axes.empty()) shape = Dims::filled(x.rank(), 1);
  Tensor total = zeros(shape, DType::f64);
  test::for_each_index(x.shape(), [&](const std::vector<int64_t>& index) {
    Tensor place = total;
    for (const int64_t i : test::broadcast_index(index, shape)) place = place.select(0, i);
    place.set({}, place.item() + test::get(x, index));
  });
  return total;
}

Shape without_axes(const Tensor& x, const Dims& axes) {
  if (axes.empty()) return {};
  Shape shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (std::ranges::none_of(axes, [&](int64_t a) { return a == axis || a + x.rank() == axis; }))
      shape.push_back(x.shape()[axis]);
  return shape;
}

}  // namespace

TEST(reduce, sum_over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x =
        test::any_tensor(test::any_shape(), test::any_between(0, 1) == 0 ? DType::f32 : DType::f64);
    const Dims axes = any_axes(x.shape());
    const Tensor kept = kernels::sum(x, axes, true), dropped = kernels::sum(x, axes);
    const Tensor wanted = naive_sum(x, axes);
    RC_ASSERT(kept.shape() == wanted.shape() && kept.dtype() == x.dtype());
    RC_ASSERT(allclose(kept, wanted, 1e-5, 1e-5));
    RC_ASSERT(dropped.shape() == without_axes(x, axes));
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
  const Tensor x = rand_uniform({1000, 350}, -1, 1, DType::f32, generator);
  const int before = num_threads();
  for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}}) {
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
  expect_error<DTypeError>([&] { kernels::mean(x); }, "[mean] wanted f32 or f64, came i64(2, 2)");
}

TEST(reduce, mean_divides_by_the_count) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = test::any_tensor(test::any_shape());
    RC_PRE(x.numel() > 0);
    const Dims axes = any_axes(x.shape());
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
      "[mean] the mean of no elements has no value");
  EXPECT_EQ(kernels::mean(zeros({2, 0}), {0}).shape(), (Shape{0}));
}

TEST(reduce, axes_are_checked) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::sum(x, {2}); }, "[sum] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::sum(x, {0, -2}); }, "[sum] wanted every axis once, came (0, -2)");
  expect_error<DTypeError>([&] { kernels::sum(zeros({2}, DType::boolean)); }, "[sum] wanted f32 or f64");
  expect_error<IndexError>([&] { kernels::argmax(x, -3); }, "[argmax]");
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

TEST(reduce, argmax_finds_the_first_of_the_largest) {
  const Tensor x = tensor_of({{1, 5, 5}, {NAN, 9, NAN}, {-INFINITY, -INFINITY, -2}});
  EXPECT_EQ(kernels::argmax(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(kernels::argmax(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(kernels::argmax(tensor_of({3, 7}, DType::i64), 0).item(), 1);
  EXPECT_EQ(kernels::argmax(zeros({0, 3}), 1).shape(), (Shape{0}));
  expect_error<ValueError>(
      [] {
        kernels::argmax(zeros({3, 0}), 1);
      },
      "[argmax] axis 1 of shape (3, 0) has no elements");
  EXPECT_TRUE(rc::check([] {
    const Tensor values = test::any_tensor(test::any_shape(3));
    RC_PRE(values.rank() > 0 && values.numel() > 0);
    const int64_t axis = test::any_between(0, values.rank() - 1);
    const Tensor best = kernels::argmax(values, axis);
    test::for_each_index(best.shape(), [&](const std::vector<int64_t>& index) {
      int64_t winner = 0;
      std::vector<int64_t> place = index;
      place.insert(place.begin() + axis, 0);
      double most = -INFINITY;
      for (int64_t i = 0; i < values.size(axis); ++i) {
        place[static_cast<size_t>(axis)] = i;
        if (const double value = test::get(values, place); value > most) winner = i, most = value;
      }
      RC_ASSERT(static_cast<int64_t>(test::get(best, index)) == winner);
    });
  }));
}

TEST(reduce, sum_of_squares_and_all_finite) {
  EXPECT_EQ(kernels::sum_of_squares(tensor_of({{1, 2}, {3, 4}}).transpose(0, 1)), 30);
  EXPECT_NEAR(kernels::sum_of_squares(full({100'000}, 1e30)), 1e65, 1e59);
  EXPECT_EQ(kernels::sum_of_squares(zeros({0})), 0);
  EXPECT_TRUE(kernels::all_finite(tensor_of({1, -3e38})));
  EXPECT_TRUE(kernels::all_finite(zeros({0})));
  EXPECT_FALSE(kernels::all_finite(tensor_of({1, NAN})));
  EXPECT_FALSE(kernels::all_finite(tensor_of({-INFINITY}, DType::f64)));
  expect_error<DTypeError>([] { kernels::sum_of_squares(zeros({2}, DType::i64)); }, "[sum_of_squares]");
}
