#include <heed/tensor/kernels/extremes.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "reductions.h"

using namespace heed;
using heed::test::expect_error;

namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

/// Numbers of which many are equal, in any layout.
Tensor any_numbers(const Shape& shape) {
  const auto dtype = *rc::gen::element(DType::f32, DType::f64, DType::i64);
  return test::any_tensor(shape).to(DType::i64).to(dtype);
}

/// All arrangements of the axes that are reduced of a tensor of three.
const std::vector<Dims> kAllAxes{{}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}};

}  // namespace

TEST(extremes, max_and_min_over_any_axes_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = any_numbers(test::any_shape());
    RC_PRE(x.numel() > 0);
    const Dims axes = test::any_axes(x.shape());
    const Tensor largest = kernels::max(x, axes, true), smallest = kernels::min(x, axes, true);
    RC_ASSERT(largest.dtype() == x.dtype() && smallest.dtype() == x.dtype());
    RC_ASSERT(equal(largest.to(DType::f64), test::reduce_naively(x, axes, [](const auto& set) {
                      return *std::ranges::max_element(set);
                    })));
    RC_ASSERT(equal(smallest.to(DType::f64), test::reduce_naively(x, axes, [](const auto& set) {
                      return *std::ranges::min_element(set);
                    })));
    const Tensor dropped = kernels::max(x, axes);
    RC_ASSERT(dropped.shape() == test::without_axes(x, axes));
    RC_ASSERT(equal(dropped.reshape(largest.shape()), largest));
    RC_ASSERT(equal(kernels::min(x, axes).reshape(smallest.shape()), smallest));
  }));
}

TEST(extremes, one_among_many_is_found_in_every_arrangement) {
  Generator generator(3);
  const Shape shape{70, 130, 90};
  for (const DType dtype : {DType::f32, DType::f64, DType::i64})
    for (int round = 0; round < 4; ++round) {
      Tensor x = rand_uniform(shape, -9, 9, DType::f64, generator).to(dtype);
      const auto i = static_cast<int64_t>(generator.below(70)),
                 j = static_cast<int64_t>(generator.below(130)),
                 k = static_cast<int64_t>(generator.below(90));
      x.set({i, j, k}, 10);
      for (const Dims& axes : kAllAxes) {
        const Tensor best = kernels::max(x, axes, true);
        EXPECT_EQ(kernels::max(best).item(), 10) << to_string(axes);
        EXPECT_EQ(test::get(best, test::broadcast_index({i, j, k}, best.shape())), 10) << to_string(axes);
      }
      x.set({i, j, k}, -10);
      for (const Dims& axes : kAllAxes) {
        const Tensor best = kernels::min(x, axes, true);
        EXPECT_EQ(test::get(best, test::broadcast_index({i, j, k}, best.shape())), -10) << to_string(axes);
      }
    }
}

TEST(extremes, nan_wins) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const int64_t count : {1, 5, 16, 40, 5000, 300'000})
      for (const int64_t place : {int64_t{0}, count / 2, count - 1}) {
        Tensor x = ones({count}, dtype);
        x.set({place}, NAN);
        EXPECT_TRUE(std::isnan(kernels::max(x).item()) && std::isnan(kernels::min(x).item())) << count;
        EXPECT_EQ(kernels::argmax(x, 0).item(), static_cast<double>(place)) << count;
        EXPECT_EQ(kernels::argmin(x, 0).item(), static_cast<double>(place)) << count;
        const Tensor columns = x.unsqueeze(1).expand({count, 2}).contiguous();
        EXPECT_TRUE(std::isnan(kernels::max(columns, {0}).at({1}))) << count;
        EXPECT_EQ(kernels::argmin(columns, 0).at({1}), static_cast<double>(place)) << count;
      }
}

TEST(extremes, infinities_and_the_ends_of_i64) {
  const Tensor x = tensor_of({{-INFINITY, -INFINITY}, {INFINITY, 3}});
  EXPECT_TRUE(equal(kernels::max(x, {1}), tensor_of({-INFINITY, INFINITY})));
  EXPECT_TRUE(equal(kernels::min(x, {0}), tensor_of({-INFINITY, -INFINITY})));
  EXPECT_TRUE(equal(kernels::min(full({20}, INFINITY)), scalar(INFINITY)));
  for (const int64_t end : {kSmallest, kLargest}) {
    const Tensor ends = from_values<int64_t>(std::vector<int64_t>(20, end), {20});
    EXPECT_EQ(kernels::max(ends).to_vector<int64_t>()[0], end);
    EXPECT_EQ(kernels::min(ends).to_vector<int64_t>()[0], end);
    EXPECT_EQ(kernels::argmax(ends, 0).item(), 0);
  }
}

TEST(extremes, nothing_has_no_extreme) {
  const Tensor none = zeros({3, 0});
  EXPECT_EQ(kernels::max(none, {0}).shape(), (Shape{0}));
  EXPECT_EQ(kernels::min(none, {0}, true).shape(), (Shape{1, 0}));
  EXPECT_EQ(kernels::argmax(zeros({0, 3}), 1).shape(), (Shape{0}));
  EXPECT_EQ(kernels::argmin(none, 0).shape(), (Shape{0}));
  expect_error<ValueError>([&] { kernels::max(none, {1}); },
                           "[max] what is reduced has no elements: shape (3, 0), axes (1,)");
  expect_error<ValueError>([&] { kernels::min(none); }, "[min] what is reduced has no elements");
  expect_error<ValueError>([&] { kernels::argmax(none, 1); }, "[argmax] what is reduced has no elements");
  expect_error<ValueError>([&] { kernels::argmin(none, -1); }, "[argmin] what is reduced has no elements");
}

TEST(extremes, arguments_are_checked) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::max(x, {2}); }, "[max] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { kernels::min(x, {0, -2}); }, "[min] wanted every axis once, came (0, -2)");
  expect_error<IndexError>([&] { kernels::argmax(x, -3); }, "[argmax] wanted an axis in [-2, 2), came -3");
  expect_error<IndexError>([] { kernels::argmin(scalar(1), 0); }, "[argmin]");
  expect_error<DTypeError>([] { kernels::max(zeros({2}, DType::boolean)); },
                           "[max] wanted f32, f64 or i64, came bool(2,)");
  expect_error<DTypeError>([] { kernels::argmin(zeros({2}, DType::bf16), 0); },
                           "[argmin] wanted f32, f64 or i64, came bf16(2,)");
  expect_error<ShapeError>([&] { kernels::attains(x, zeros({2})); },
                           "[attains] wanted an extreme that expands to (2, 3), came (2,)");
  expect_error<DTypeError>([&] { kernels::attains(x, zeros({3}, DType::f64)); },
                           "[attains] wanted one dtype");
}

TEST(extremes, argmax_and_argmin_find_the_first_of_equals) {
  const Tensor x = tensor_of({{1, 5, 5}, {NAN, 9, NAN}, {-INFINITY, -INFINITY, -2}});
  EXPECT_EQ(kernels::argmax(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(kernels::argmax(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(kernels::argmin(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(kernels::argmin(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(kernels::argmax(tensor_of({3, 7}, DType::i64), 0).item(), 1);
  EXPECT_TRUE(rc::check([] {
    const Tensor values = any_numbers(test::any_shape(3));
    RC_PRE(values.rank() > 0 && values.numel() > 0);
    const int64_t axis = test::any_between(0, values.rank() - 1);
    const Tensor largest = kernels::argmax(values, axis), smallest = kernels::argmin(values, axis);
    RC_ASSERT(largest.dtype() == DType::i64 && largest.shape() == test::without_axes(values, {axis}));
    const auto first = [&](auto&& find) {
      return test::reduce_naively(values, {axis}, [&](const std::vector<double>& set) {
        return static_cast<double>(find(set) - set.begin());
      });
    };
    RC_ASSERT(equal(largest.unsqueeze(axis).to(DType::f64), first(std::ranges::max_element)));
    RC_ASSERT(equal(smallest.unsqueeze(axis).to(DType::f64), first(std::ranges::min_element)));
  }));
}

TEST(extremes, argmax_finds_the_first_place_of_long_axes) {
  for (const int64_t count : {63, 64, 65, 5000, 300'000}) {
    Tensor x = zeros({count, 3});
    for (const int64_t place : {count - 1, count / 2, int64_t{1}}) {
      x.slice(0, place, place + 1).fill(1);
      const auto first = static_cast<double>(place);
      for (const Tensor& indices : {kernels::argmax(x, 0), kernels::argmax(x.transpose(0, 1), 1)})
        EXPECT_TRUE(equal(indices, full({3}, first, DType::i64))) << count;
    }
  }
}

TEST(extremes, attains_marks_every_extreme) {
  const Tensor x = tensor_of({{1, 5, 5}, {NAN, 9, NAN}});
  EXPECT_TRUE(equal(kernels::attains(x, kernels::max(x, {1}, true)),
                    tensor_of({{0, 1, 1}, {1, 0, 1}}).to(DType::boolean)));
  EXPECT_EQ(kernels::attains(zeros({0, 2}), zeros({1})).shape(), (Shape{0, 2}));
}

TEST(extremes, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(2);
  const Tensor x = rand_uniform({100, 30, 350}, -1, 1, DType::f32, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> results;
    for (const Dims& axes : kAllAxes) results.push_back(kernels::max(x, axes));
    for (int64_t axis = 0; axis < 3; ++axis) results.push_back(kernels::argmin(x, axis));
    return results;
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2), three = evaluate(3);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(identical(one[i], two[i]) && identical(one[i], three[i])) << i;
}
