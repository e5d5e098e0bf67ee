#include <heed/tensor/kernels/comparison.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>
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

using Kernel = std::function<Tensor(const Tensor&, const Tensor&)>;
using Bools = std::vector<bool>;

/// Whole numbers from -2 to 2, so that many are equal.
Tensor any_rounded(const Shape& shape, DType dtype) {
  return test::any_tensor(shape).to(DType::i64).to(dtype);
}

/// The kernel against one element at a time, over random shapes, layouts and broadcasts.
void expect_elementwise(const Kernel& kernel, const std::function<bool(double, double)>& f,
                        const std::vector<DType>& dtypes) {
  EXPECT_TRUE(rc::check([&] {
    const Shape whole = test::any_shape();
    const DType dtype = dtypes[static_cast<size_t>(test::any_between(0, std::ssize(dtypes) - 1))];
    const Shape left = test::any_shape_below(whole), right = test::any_shape_below(whole);
    const Tensor a = test::any_between(0, 1) == 0 ? test::any_tensor(left, dtype) : any_rounded(left, dtype);
    const Tensor b = any_rounded(right, dtype);
    const Tensor c = kernel(a, b);
    RC_ASSERT(c.dtype() == DType::boolean && c.is_contiguous());
    RC_ASSERT(c.shape() == broadcast_shapes("test", left, right));
    test::for_each_index(c.shape(), [&](const std::vector<int64_t>& index) {
      const bool wanted = f(test::get(a, test::broadcast_index(index, left)),
                            test::get(b, test::broadcast_index(index, right)));
      RC_ASSERT(test::get(c, index) == (wanted ? 1.0 : 0.0));
    });
  }));
}

const std::vector<DType> kNumbers{DType::f32, DType::f64, DType::i64};

}  // namespace

TEST(comparison, eq) { expect_elementwise(kernels::eq, std::equal_to<>{}, kNumbers); }
TEST(comparison, ne) { expect_elementwise(kernels::ne, std::not_equal_to<>{}, kNumbers); }
TEST(comparison, lt) { expect_elementwise(kernels::lt, std::less<>{}, kNumbers); }
TEST(comparison, le) { expect_elementwise(kernels::le, std::less_equal<>{}, kNumbers); }
TEST(comparison, gt) { expect_elementwise(kernels::gt, std::greater<>{}, kNumbers); }
TEST(comparison, ge) { expect_elementwise(kernels::ge, std::greater_equal<>{}, kNumbers); }

TEST(comparison, logical_and) {
  expect_elementwise(kernels::logical_and, [](double x, double y) { return x != 0 && y != 0; },
                     {DType::boolean});
}
TEST(comparison, logical_or) {
  expect_elementwise(kernels::logical_or, [](double x, double y) { return x != 0 || y != 0; },
                     {DType::boolean});
}
TEST(comparison, logical_not) {
  EXPECT_TRUE(rc::check([] {
    const Tensor a = any_rounded(test::any_shape(), DType::boolean), b = kernels::logical_not(a);
    RC_ASSERT(b.dtype() == DType::boolean && b.shape() == a.shape());
    test::for_each_index(a.shape(), [&](const std::vector<int64_t>& index) {
      RC_ASSERT(test::get(b, index) == 1 - test::get(a, index));
    });
  }));
}

TEST(comparison, nan_is_equal_to_nothing_and_neither_less_nor_greater) {
  // long enough for the loops that vectorize, once against each kind of operand
  const Tensor nan = full({67}, NAN);
  for (const float other : {1.0f, -INFINITY, NAN}) {
    for (const Tensor& b : {full({67}, other), full({1}, other)}) {
      const Tensor none = zeros({67}, DType::boolean), all = ones({67}, DType::boolean);
      for (const auto kernel : {kernels::eq, kernels::lt, kernels::le, kernels::gt, kernels::ge}) {
        EXPECT_TRUE(equal(kernel(nan, b), none)) << other;
        EXPECT_TRUE(equal(kernel(b, nan), none)) << other;
      }
      EXPECT_TRUE(equal(kernels::ne(nan, b), all)) << other;
      EXPECT_TRUE(equal(kernels::ne(b, nan), all)) << other;
    }
  }
}

TEST(comparison, infinities_and_zeros) {
  const Tensor x = tensor_of({INFINITY, -INFINITY, 0, -0.0}), y = tensor_of({INFINITY, 5, -0.0, 0});
  EXPECT_EQ(kernels::eq(x, y).to_vector<bool>(), (Bools{true, false, true, true}));
  EXPECT_EQ(kernels::lt(x, y).to_vector<bool>(), (Bools{false, true, false, false}));
  EXPECT_EQ(kernels::ge(x, y).to_vector<bool>(), (Bools{true, false, true, true}));
}

TEST(comparison, whole_numbers_are_compared_exactly) {
  // as doubles both would be 2^53
  const std::vector<int64_t> values{9007199254740993, 9007199254740992};
  const Tensor x = from_values<int64_t>(values, {2});
  EXPECT_EQ(kernels::eq(x.slice(0, 0, 1), x).to_vector<bool>(), (Bools{true, false}));
  EXPECT_EQ(kernels::gt(x.slice(0, 0, 1), x).to_vector<bool>(), (Bools{false, true}));
}

TEST(comparison, where_chooses_over_any_layout_and_dtype) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<DType> dtypes{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    const DType dtype = dtypes[static_cast<size_t>(test::any_between(0, 4))];
    const Shape whole = test::any_shape();
    const Tensor condition = any_rounded(test::any_shape_below(whole), DType::boolean);
    const Tensor a = test::any_tensor(test::any_shape_below(whole), dtype);
    const Tensor b = test::any_tensor(test::any_shape_below(whole), dtype);
    const Tensor c = kernels::where(condition, a, b);
    RC_ASSERT(c.dtype() == dtype && c.is_contiguous());
    RC_ASSERT(c.shape() ==
              broadcast_shapes("test", condition.shape(), broadcast_shapes("test", a.shape(), b.shape())));
    test::for_each_index(c.shape(), [&](const std::vector<int64_t>& index) {
      const bool first = test::get(condition, test::broadcast_index(index, condition.shape())) != 0;
      const Tensor& from = first ? a : b;
      RC_ASSERT(test::get(c, index) == test::get(from, test::broadcast_index(index, from.shape())));
    });
  }));
}

TEST(comparison, what_where_does_not_choose_never_enters) {
  const Tensor condition = tensor_of({1, 0}, DType::boolean);
  EXPECT_EQ(kernels::where(condition, tensor_of({1, NAN}), tensor_of({INFINITY, 2})).to_vector<float>(),
            (std::vector<float>{1, 2}));
  EXPECT_TRUE(std::isnan(kernels::where(condition, scalar(NAN), scalar(2)).at({0})));
}

TEST(comparison, empty_and_single_elements) {
  EXPECT_EQ(kernels::lt(zeros({0, 3}), zeros({3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(kernels::lt(scalar(1), scalar(2)).shape(), Shape{});
  EXPECT_EQ(kernels::lt(scalar(1), scalar(2)).item(), 1);
  EXPECT_EQ(kernels::logical_not(zeros({0}, DType::boolean)).shape(), (Shape{0}));
  EXPECT_EQ(kernels::where(zeros({1}, DType::boolean), zeros({2, 0}), scalar(1)).shape(), (Shape{2, 0}));
}

TEST(comparison, checks_dtypes_and_shapes) {
  const Tensor a = zeros({2, 3}), yes = ones({2, 3}, DType::boolean);
  expect_error<DTypeError>([&] { kernels::eq(a, zeros({3}, DType::f64)); },
                           "[eq] wanted one dtype, came f32(2, 3) and f64(3,)");
  expect_error<ShapeError>([&] { kernels::ne(a, zeros({2})); },
                           "[ne] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<DTypeError>([&] { kernels::lt(yes, yes); }, "[lt] wanted f32, f64 or i64, came bool(2, 3)");
  expect_error<DTypeError>([] { kernels::le(zeros({2}, DType::bf16), zeros({2}, DType::bf16)); }, "[le]");
  expect_error<ShapeError>([&] { kernels::gt(a, zeros({2})); }, "[gt] shapes do not broadcast");
  expect_error<ShapeError>([&] { kernels::ge(a, zeros({2})); }, "[ge] shapes do not broadcast");
  expect_error<ValueError>([&] { kernels::eq(Tensor{}, a); }, "undefined");
  expect_error<DTypeError>([&] { kernels::logical_and(a, yes); },
                           "[logical_and] wanted bool, came f32(2, 3)");
  expect_error<DTypeError>([&] { kernels::logical_or(yes, a); }, "[logical_or] wanted bool, came f32(2, 3)");
  expect_error<ShapeError>([&] { kernels::logical_or(yes, ones({2}, DType::boolean)); },
                           "[logical_or] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<DTypeError>([] { kernels::logical_not(zeros({2}, DType::i64)); },
                           "[logical_not] wanted bool, came i64(2,)");
  expect_error<DTypeError>([&] { kernels::where(a, a, a); }, "[where] wanted bool, came f32(2, 3)");
  expect_error<DTypeError>([&] { kernels::where(yes, a, zeros({3}, DType::f64)); },
                           "[where] wanted one dtype, came f32(2, 3) and f64(3,)");
  expect_error<ShapeError>([&] { kernels::where(yes, a, zeros({2})); },
                           "[where] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<ShapeError>([&] { kernels::where(ones({2}, DType::boolean), a, a); },
                           "[where] shapes do not broadcast: (2,) and (2, 3)");
}

TEST(comparison, the_results_do_not_depend_on_the_threads) {
  Generator generator(4);
  const Tensor a = rand_normal({700, 301}, 0, 1, DType::f32, generator),
               b = rand_normal({301, 700}, 0, 1, DType::f32, generator).transpose(0, 1);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    const Tensor less = kernels::lt(a, b);
    return std::vector{less, kernels::where(less, a, b), kernels::logical_not(less)};
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], two[i])) << i;
  EXPECT_EQ(one[1].at({699, 300}), std::min(a.at({699, 300}), b.at({699, 300})));
}
