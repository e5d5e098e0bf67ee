#include <heed/tensor/kernels/arithmetic.h>

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

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

using Kernel = Tensor (*)(const Tensor&, const Tensor&, Tensor*);
using Scalar = std::function<double(double, double)>;

/// The kernel against one element at a time in f64, over random shapes, layouts and broadcasts.
void expect_elementwise(Kernel kernel, const Scalar& f) {
  EXPECT_TRUE(rc::check([&] {
    const Shape whole = test::any_shape();
    const DType dtype = test::any_between(0, 1) == 0 ? DType::f32 : DType::f64;
    const Tensor a = test::any_tensor(test::any_shape_below(whole), dtype);
    const Tensor b = test::any_tensor(test::any_shape_below(whole), dtype);
    const Tensor c = kernel(a, b, nullptr);
    RC_ASSERT(c.dtype() == dtype && c.is_contiguous());
    RC_ASSERT(c.shape() == broadcast_shapes("test", a.shape(), b.shape()));
    const double tolerance = dtype == DType::f32 ? 1e-6 : 1e-15;
    test::for_each_index(c.shape(), [&](const std::vector<int64_t>& index) {
      const double wanted = f(test::get(a, test::broadcast_index(index, a.shape())),
                              test::get(b, test::broadcast_index(index, b.shape())));
      const double came = test::get(c, index);
      RC_ASSERT(came == wanted || std::abs(came - wanted) <= tolerance * (1 + std::abs(wanted)));
    });
  }));
}

Tensor whole_numbers(const std::vector<int64_t>& values) {
  return from_values<int64_t>(values, {static_cast<int64_t>(values.size())});
}

}  // namespace

TEST(arithmetic, add) { expect_elementwise(kernels::add, std::plus<>{}); }
TEST(arithmetic, sub) { expect_elementwise(kernels::sub, std::minus<>{}); }
TEST(arithmetic, mul) { expect_elementwise(kernels::mul, std::multiplies<>{}); }
TEST(arithmetic, div) { expect_elementwise(kernels::div, std::divides<>{}); }
TEST(arithmetic, maximum) {
  expect_elementwise(kernels::maximum, [](double x, double y) { return std::max(x, y); });
}
TEST(arithmetic, minimum) {
  expect_elementwise(kernels::minimum, [](double x, double y) { return std::min(x, y); });
}

TEST(arithmetic, scale_and_pow) {
  EXPECT_TRUE(rc::check([] {
    const Tensor a = test::any_tensor(test::any_shape());
    const Tensor scaled = kernels::scale(a, -1.5, 0.25), squared = kernels::pow(a, 2),
                 cubed = kernels::pow(a, 3);
    test::for_each_index(a.shape(), [&](const std::vector<int64_t>& index) {
      const double x = test::get(a, index);
      RC_ASSERT(std::abs(test::get(scaled, index) - (x * -1.5 + 0.25)) < 1e-15);
      RC_ASSERT(test::get(squared, index) == x * x);
      RC_ASSERT(std::abs(test::get(cubed, index) - x * x * x) < 1e-14);
    });
  }));
  EXPECT_TRUE(equal(kernels::pow(tensor_of({-2, 0, INFINITY}), 1), tensor_of({-2, 0, INFINITY})));
  EXPECT_TRUE(std::isnan(kernels::pow(scalar(-1), 0.5).item()));
  EXPECT_EQ(kernels::pow(scalar(0), -1).item(), INFINITY);
  EXPECT_EQ(kernels::pow(scalar(0), 0).item(), 1);
}

TEST(arithmetic, edits_in_place_in_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape = test::any_shape();
    Tensor target = test::any_tensor(shape);
    RC_PRE(!target.overlaps_itself());
    const Tensor before = target.clone();
    const Tensor source = test::any_tensor(test::any_shape_below(shape));
    kernels::add_into(target, source, -2);
    test::for_each_index(shape, [&](const std::vector<int64_t>& index) {
      const double y = test::get(source, test::broadcast_index(index, source.shape()));
      RC_ASSERT(std::abs(test::get(target, index) - (test::get(before, index) - 2 * y)) < 1e-14);
    });
  }));
  Tensor a = tensor_of({{1, 2}, {3, 4}});
  Tensor column = a.select(1, 1);
  kernels::scale_into(column, 10);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1, 20, 3, 40}));
}

TEST(arithmetic, an_edit_reads_an_overlapping_source_first) {
  for (const int64_t count : {6, 1000}) {
    Tensor a = ones({count}, DType::f64);
    Tensor target = a.slice(0, 1, count);
    kernels::add_into(target, a.slice(0, 0, count - 1));
    EXPECT_EQ(a.at({0}), 1);
    EXPECT_TRUE(equal(target, full({count - 1}, 2, DType::f64)));
  }
  Tensor square = arange(0, 9).reshape({3, 3});
  kernels::add_into(square, square.transpose(0, 1));
  EXPECT_EQ(square.to_vector<float>(), (std::vector<float>{0, 4, 8, 4, 8, 12, 8, 12, 16}));
  kernels::add_into(square, square);
  EXPECT_EQ(square.at({2, 2}), 32);
}

TEST(arithmetic, ieee_rules) {
  const Tensor zero = tensor_of({0, 0, 0}), x = tensor_of({1, -1, 0});
  const auto quotient = kernels::div(x, zero).to_vector<float>();
  EXPECT_EQ(quotient[0], INFINITY);
  EXPECT_EQ(quotient[1], -INFINITY);
  EXPECT_TRUE(std::isnan(quotient[2]));
  EXPECT_TRUE(std::isnan(kernels::sub(scalar(INFINITY), scalar(INFINITY)).item()));
  for (const auto& pick : {kernels::maximum, kernels::minimum}) {
    EXPECT_TRUE(std::isnan(pick(scalar(NAN), scalar(1), nullptr).item()));
    EXPECT_TRUE(std::isnan(pick(scalar(1), scalar(NAN), nullptr).item()));
  }
  EXPECT_EQ(kernels::maximum(scalar(-INFINITY), scalar(1)).item(), 1);
}

TEST(arithmetic, whole_numbers_wrap_around_and_never_trap) {
  const Tensor a = whole_numbers({kLargest, kSmallest, 7}), one = whole_numbers({1});
  EXPECT_EQ(kernels::add(a, one).to_vector<int64_t>(), (std::vector<int64_t>{kSmallest, kSmallest + 1, 8}));
  EXPECT_EQ(kernels::sub(a, one).to_vector<int64_t>(), (std::vector<int64_t>{kLargest - 1, kLargest, 6}));
  EXPECT_EQ(kernels::mul(a, whole_numbers({2})).to_vector<int64_t>(), (std::vector<int64_t>{-2, 0, 14}));
  EXPECT_EQ(kernels::div(a, whole_numbers({-1})).to_vector<int64_t>(),
            (std::vector<int64_t>{-kLargest, kSmallest, -7}));
  EXPECT_EQ(kernels::div(whole_numbers({7, -7}), whole_numbers({2})).to_vector<int64_t>(),
            (std::vector<int64_t>{3, -3}));
  EXPECT_EQ(kernels::scale(a, 3, -1).at({2}), 20);
}

TEST(arithmetic, whole_numbers_take_no_fractions_and_no_zero) {
  Tensor a = whole_numbers({4, 6});
  expect_error<ValueError>(
      [&] {
        kernels::div(a, whole_numbers({2, 0}));
      },
      "[div] a whole number divided by 0, in i64(2,)");
  expect_error<ValueError>([&] { kernels::scale(a, 0.5); },
                           "[scale] wanted a whole number for i64, came 0.5");
  expect_error<ValueError>([&] { kernels::scale(a, 1, INFINITY); }, "came inf");
  expect_error<ValueError>([&] { kernels::scale_into(a, NAN); }, "[scale_into] wanted a whole number");
  expect_error<ValueError>([&] { kernels::add_into(a, a, 0.1); }, "[add_into] wanted a whole number");
  EXPECT_EQ(a.to_vector<int64_t>(), (std::vector<int64_t>{4, 6}));
}

TEST(arithmetic, checks_dtypes_and_shapes) {
  const Tensor a = zeros({2, 3});
  Tensor target = zeros({3});
  expect_error<DTypeError>([&] { kernels::add(a, zeros({3}, DType::f64)); },
                           "[add] wanted one dtype, came f32(2, 3) and f64(3,)");
  expect_error<ShapeError>([&] { kernels::mul(a, zeros({2})); },
                           "[mul] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<ShapeError>([&] { kernels::add_into(target, a); },
                           "[add_into] shape (2, 3) does not expand to (3,)");
  expect_error<DTypeError>([&] { kernels::sub(zeros({2}, DType::boolean), zeros({2}, DType::boolean)); },
                           "[sub] wanted numbers, came bool(2,)");
  expect_error<DTypeError>([&] { kernels::pow(zeros({2}, DType::i64), 2); },
                           "[pow] wanted f32, f64 or bf16, came i64(2,)");
  expect_error<DTypeError>([&] { kernels::scale(zeros({2}, DType::boolean), 2); },
                           "[scale] wanted numbers, came bool(2,)");
  expect_error<ValueError>([&] { kernels::add(Tensor{}, a); }, "undefined");
}

TEST(arithmetic, bf16_is_computed_in_f32_and_rounded_once) {
  const Tensor a = rand_normal({3, 50}), b = rand_normal({50});
  const Tensor left = a.to(DType::bf16), right = b.to(DType::bf16);
  const Tensor x = left.to(DType::f32), y = right.to(DType::f32);
  EXPECT_TRUE(equal(kernels::add(left, right), kernels::add(x, y).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::mul(left, right), kernels::mul(x, y).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::div(left, right), kernels::div(x, y).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::minimum(left, right), kernels::minimum(x, y).to(DType::bf16)));
  Tensor target = left.clone(), wanted = x.clone();
  kernels::add_into(target, right, 0.3);
  kernels::add_into(wanted, y, 0.3);
  EXPECT_TRUE(equal(target, wanted.to(DType::bf16)));
  kernels::scale_into(target, 0.3);
  EXPECT_TRUE(equal(target, kernels::scale(wanted.to(DType::bf16).to(DType::f32), 0.3).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::scale(left, 0.3, 0.1), kernels::scale(x, 0.3, 0.1).to(DType::bf16)));
  EXPECT_TRUE(equal(kernels::pow(left, 3), kernels::pow(x, 3).to(DType::bf16)));
}

TEST(arithmetic, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(4);
  const Tensor a = rand_normal({700, 301}, 0, 1, DType::f32, generator),
               b = rand_normal({301}, 0, 1, DType::f32, generator);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = kernels::mul(a.transpose(0, 1), b.unsqueeze(1));
  set_num_threads(2);
  const Tensor two = kernels::mul(a.transpose(0, 1), b.unsqueeze(1));
  set_num_threads(before);
  EXPECT_TRUE(identical(one, two));
  EXPECT_FLOAT_EQ(static_cast<float>(one.at({300, 699})), static_cast<float>(a.at({699, 300}) * b.at({300})));
}
