#include <heed/tensor/kernels/sort.h>

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

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

/// A tensor with at least one axis; half of the time whole numbers, of which many are equal, and floats with
/// some NaN and infinity.
Tensor any_with_ties() {
  const std::vector<DType> dtypes{DType::f32, DType::f64, DType::i64};
  const DType dtype = dtypes[static_cast<size_t>(test::any_between(0, 2))];
  const Shape shape = test::any_shape(4, 7);
  RC_PRE(shape.rank() > 0);
  const Tensor x = test::any_tensor(shape, dtype);
  if (test::any_between(0, 1) == 0) return x;
  Tensor rounded = x.to(DType::i64).to(dtype);
  if (dtype != DType::i64 && rounded.numel() > 3) {
    Tensor flat = rounded.reshape({rounded.numel()});
    for (const double special : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
      for (int round = 0; round < 2; ++round) flat.set({test::any_between(0, flat.numel() - 1)}, special);
  }
  return rounded;
}

/// f(line) for each line along the axis, as the index of its elements with the axis left out.
template <class F>
void for_each_line(const Shape& shape, int64_t axis, F&& f) {
  Shape others = shape;
  others.erase(axis);
  test::for_each_index(others, f);
}

std::vector<double> line_of(const Tensor& x, int64_t axis, const std::vector<int64_t>& others) {
  std::vector<int64_t> order{axis};
  for (int64_t a = 0; a < x.rank(); ++a)
    if (a != axis) order.push_back(a);
  Tensor line = x.permute(order);
  for (const int64_t i : others) line = line.select(1, i);
  return line.to_vector<double>();
}

/// The same value: NaN is one too.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The places of a line in order.
std::vector<size_t> naive_order(const std::vector<double>& line, bool descending) {
  std::vector<size_t> order(line.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    return descending ? less(line[j], line[i]) : less(line[i], line[j]);
  });
  return order;
}

void expect_sorted(const Tensor& x, int64_t axis, const kernels::Sorted& sorted, int64_t kept,
                   bool descending) {
  Shape shape = x.shape();
  shape[axis] = kept;
  RC_ASSERT(sorted.values.shape() == shape && sorted.values.dtype() == x.dtype());
  RC_ASSERT(sorted.indices.shape() == shape && sorted.indices.dtype() == DType::i64);
  for_each_line(x.shape(), axis, [&](const std::vector<int64_t>& others) {
    const auto line = line_of(x, axis, others), values = line_of(sorted.values, axis, others),
               indices = line_of(sorted.indices, axis, others);
    const auto order = naive_order(line, descending);
    for (size_t i = 0; i < static_cast<size_t>(kept); ++i) {
      RC_ASSERT(indices[i] == static_cast<double>(order[i]));
      RC_ASSERT(same(values[i], line[order[i]]));
    }
  });
}

/// The axis, at times counted from the end.
int64_t any_name_of(int64_t axis, int64_t rank) { return test::any_between(0, 1) == 0 ? axis : axis - rank; }

}  // namespace

TEST(sort, is_stable_in_both_directions_over_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = any_with_ties();
    const int64_t axis = test::any_between(0, x.rank() - 1);
    const bool descending = test::any_between(0, 1) == 1;
    const auto sorted = kernels::sort(x, any_name_of(axis, x.rank()), descending);
    expect_sorted(x, axis, sorted, x.size(axis), descending);
  }));
}

TEST(sort, top_k_is_the_head_of_a_descending_sort) {
  EXPECT_TRUE(rc::check([] {
    const Tensor x = any_with_ties();
    const int64_t axis = test::any_between(0, x.rank() - 1), k = test::any_between(0, x.size(axis));
    expect_sorted(x, axis, kernels::top_k(x, any_name_of(axis, x.rank()), k), k, true);
  }));
}

TEST(sort, equal_elements_keep_their_order) {
  const Tensor x = tensor_of({2, 1, 2, 1, 2});
  EXPECT_EQ(kernels::sort(x, 0).indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 0, 2, 4}));
  EXPECT_EQ(kernels::sort(x, 0, true).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 2, 4, 1, 3}));
  EXPECT_EQ(kernels::top_k(x, 0, 2).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 2}));
  // 0 and -0 are equal
  const Tensor zeros_of_both_signs = tensor_of({0, -0.0, 0, -0.0});
  EXPECT_EQ(kernels::sort(zeros_of_both_signs, 0).indices.to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 2, 3}));
  // long lines, where an unstable algorithm would show
  const Tensor same_ones = full({2000}, 3), places = arange(0, 2000, 1, DType::i64);
  EXPECT_TRUE(equal(kernels::sort(same_ones, 0).indices, places));
  EXPECT_TRUE(equal(kernels::sort(same_ones, 0, true).indices, places));
  EXPECT_TRUE(equal(kernels::top_k(same_ones, 0, 700).indices, places.slice(0, 0, 700)));
}

TEST(sort, nan_counts_as_the_largest) {
  const Tensor x = tensor_of({NAN, INFINITY, -1, NAN, -INFINITY});
  EXPECT_EQ(kernels::sort(x, 0).indices.to_vector<int64_t>(), (std::vector<int64_t>{4, 2, 1, 0, 3}));
  EXPECT_EQ(kernels::sort(x, 0, true).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 1, 2, 4}));
  const auto top = kernels::top_k(x, 0, 3);
  EXPECT_EQ(top.indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 1}));
  EXPECT_TRUE(std::isnan(top.values.at({1})) && top.values.at({2}) == INFINITY);
}

TEST(sort, whole_numbers_are_compared_exactly) {
  const std::vector<int64_t> values{kLargest, kLargest - 1, kSmallest + 1, kSmallest};
  const auto sorted = kernels::sort(from_values<int64_t>(values, {4}), 0);
  EXPECT_EQ(sorted.values.to_vector<int64_t>(),
            (std::vector<int64_t>{kSmallest, kSmallest + 1, kLargest - 1, kLargest}));
}

TEST(sort, cumulative_sums_in_both_directions_over_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<DType> dtypes{DType::f32, DType::f64, DType::i64};
    const DType dtype = dtypes[static_cast<size_t>(test::any_between(0, 2))];
    const Shape shape = test::any_shape(4, 7);
    RC_PRE(shape.rank() > 0);
    const Tensor x = test::any_tensor(shape, dtype);
    const int64_t axis = test::any_between(0, x.rank() - 1);
    const Tensor forward = kernels::cumulative_sum(x, any_name_of(axis, x.rank()));
    const Tensor backward = kernels::reversed_cumulative_sum(x, any_name_of(axis, x.rank()));
    RC_ASSERT(forward.shape() == x.shape() && forward.dtype() == dtype);
    RC_ASSERT(backward.shape() == x.shape() && backward.dtype() == dtype);
    const double tolerance = dtype == DType::f32 ? 1e-6 : 1e-14;
    for_each_line(x.shape(), axis, [&](const std::vector<int64_t>& others) {
      const auto line = line_of(x, axis, others), sums = line_of(forward, axis, others),
                 reversed = line_of(backward, axis, others);
      double before = 0, after = 0;
      for (size_t i = 0; i < line.size(); ++i) {
        const size_t j = line.size() - 1 - i;
        before += line[i];
        after += line[j];
        RC_ASSERT(std::abs(sums[i] - before) <= tolerance * (1 + std::abs(before)));
        RC_ASSERT(std::abs(reversed[j] - after) <= tolerance * (1 + std::abs(after)));
      }
    });
  }));
}

TEST(sort, long_cumulative_sums_lose_nothing) {
  // carried in f32 the sum would stop at 2^24
  const Tensor sums = kernels::cumulative_sum(ones({20'000'000}), 0);
  EXPECT_EQ(sums.at({19'999'999}), 20'000'000);
  EXPECT_NEAR(kernels::cumulative_sum(full({1'000'000}, 0.1), 0).at({999'999}),
              static_cast<double>(0.1f) * 1'000'000, 0.01);
}

TEST(sort, cumulative_sums_of_infinities_and_nan) {
  const auto sums = kernels::cumulative_sum(tensor_of({1, INFINITY, 2, -INFINITY, 3}), 0).to_vector<float>();
  EXPECT_TRUE(sums[0] == 1 && sums[1] == INFINITY && sums[2] == INFINITY && std::isnan(sums[3]) &&
              std::isnan(sums[4]));
  const auto reversed = kernels::reversed_cumulative_sum(tensor_of({1, NAN, 2}), 0).to_vector<float>();
  EXPECT_TRUE(std::isnan(reversed[0]) && std::isnan(reversed[1]) && reversed[2] == 2);
}

TEST(sort, whole_cumulative_sums_wrap_around) {
  const std::vector<int64_t> values{kLargest, 1, 1};
  const Tensor x = from_values<int64_t>(values, {3});
  EXPECT_EQ(kernels::cumulative_sum(x, 0).to_vector<int64_t>(),
            (std::vector<int64_t>{kLargest, kSmallest, kSmallest + 1}));
  EXPECT_EQ(kernels::reversed_cumulative_sum(x, 0).to_vector<int64_t>(),
            (std::vector<int64_t>{kSmallest + 1, 2, 1}));
}

TEST(sort, empty_and_single_elements) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0}, Shape{0, 2}, Shape{3, 0, 2}})
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      const auto sorted = kernels::sort(zeros(shape), axis);
      EXPECT_TRUE(sorted.values.shape() == shape && sorted.indices.shape() == shape);
      EXPECT_EQ(kernels::top_k(zeros(shape), axis, shape[axis]).values.shape(), shape);
      EXPECT_EQ(kernels::cumulative_sum(zeros(shape), axis).shape(), shape);
      EXPECT_EQ(kernels::reversed_cumulative_sum(zeros(shape), axis).shape(), shape);
    }
  EXPECT_EQ(kernels::top_k(zeros({2, 3}), 1, 0).indices.shape(), (Shape{2, 0}));
  const auto one = kernels::sort(tensor_of({{5}, {4}}), 1);
  EXPECT_EQ(one.values.to_vector<float>(), (std::vector<float>{5, 4}));
  EXPECT_EQ(one.indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(kernels::cumulative_sum(tensor_of({7}), 0).item(), 7);
}

TEST(sort, checks_axes_dtypes_and_k) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { kernels::sort(x, 2); }, "[sort] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([] { kernels::sort(scalar(1), 0); }, "[sort] wanted an axis");
  expect_error<IndexError>([&] { kernels::top_k(x, -3, 1); }, "[top_k] wanted an axis in [-2, 2), came -3");
  expect_error<IndexError>([&] { kernels::cumulative_sum(x, 2); },
                           "[cumulative_sum] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { kernels::reversed_cumulative_sum(x, 2); },
                           "[reversed_cumulative_sum] wanted an axis in [-2, 2), came 2");
  expect_error<ValueError>([&] { kernels::top_k(x, 1, 4); },
                           "[top_k] wanted k in [0, 3], the size of axis 1 of (2, 3), came 4");
  expect_error<ValueError>([&] { kernels::top_k(x, -2, -1); },
                           "[top_k] wanted k in [0, 2], the size of axis 0 of (2, 3), came -1");
  expect_error<DTypeError>([] { kernels::sort(zeros({2}, DType::boolean), 0); },
                           "[sort] wanted f32, f64 or i64, came bool(2,)");
  expect_error<DTypeError>([] { kernels::top_k(zeros({2}, DType::bf16), 0, 1); },
                           "[top_k] wanted f32, f64 or i64, came bf16(2,)");
  expect_error<DTypeError>([] { kernels::cumulative_sum(zeros({2}, DType::boolean), 0); },
                           "[cumulative_sum] wanted f32, f64 or i64, came bool(2,)");
  expect_error<DTypeError>([] { kernels::reversed_cumulative_sum(zeros({2}, DType::bf16), 0); },
                           "[reversed_cumulative_sum] wanted f32, f64 or i64, came bf16(2,)");
}

TEST(sort, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(4);
  const Tensor x = rand_normal({900, 301}, 0, 1, DType::f32, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> results;
    for (const int64_t axis : {0, 1}) {
      const auto sorted = kernels::sort(x, axis), top = kernels::top_k(x, axis, 5);
      for (const Tensor& result :
           {sorted.values, sorted.indices, top.values, top.indices, kernels::cumulative_sum(x, axis),
            kernels::reversed_cumulative_sum(x, axis)})
        results.push_back(result.contiguous());
    }
    return results;
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], two[i])) << i;
}
