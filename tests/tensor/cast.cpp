#include <heed/tensor/kernels/cast.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

/// The bf16 nearest to a finite f32: the two around it, and the even one when they are equally near.
float nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const float towards_zero = std::bit_cast<float>(bits & 0xffff0000u);
  const float away = std::bit_cast<float>((bits & 0xffff0000u) + 0x10000u);
  const double low = std::abs(static_cast<double>(value) - towards_zero);
  const double high = std::abs(static_cast<double>(away) - value);
  if (low == high) return (bits & 0x10000u) == 0 ? towards_zero : away;
  return low < high ? towards_zero : away;
}

}  // namespace

TEST(cast, floats_become_whole_numbers_towards_zero) {
  const Tensor x = tensor_of({1.9, -1.9, 0.5, -0.0, 1e30, -1e30, INFINITY, -INFINITY, NAN}, DType::f64);
  const std::vector<int64_t> wanted{1, -1, 0, 0, kLargest, kSmallest, kLargest, kSmallest, 0};
  EXPECT_EQ(x.to(DType::i64).to_vector<int64_t>(), wanted);
  EXPECT_EQ(x.to(DType::f32).to(DType::i64).to_vector<int64_t>(), wanted);
  EXPECT_EQ(tensor_of({INFINITY, -3.5, NAN}, DType::bf16).to(DType::i64).to_vector<int64_t>(),
            (std::vector<int64_t>{kLargest, -3, 0}));
  EXPECT_EQ(full({2}, 1e300, DType::i64).to_vector<int64_t>()[1], kLargest);
}

TEST(cast, everything_but_zero_is_true) {
  EXPECT_EQ(tensor_of({0, -0.0, 1e-30, NAN, -INFINITY}).to(DType::boolean).to_vector<bool>(),
            (std::vector<bool>{false, false, true, true, true}));
  EXPECT_EQ(tensor_of({0, -5}, DType::i64).to(DType::boolean).to_vector<bool>(),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(tensor_of({0, -0.0, 2}, DType::bf16).to(DType::boolean).to_vector<bool>(),
            (std::vector<bool>{false, false, true}));
  EXPECT_EQ(tensor_of({1, 0}, DType::boolean).to(DType::bf16).to_vector<float>(), (std::vector<float>{1, 0}));
}

TEST(cast, bf16_rounds_to_nearest_even) {
  EXPECT_TRUE(rc::check([](uint32_t bits) {
    const auto value = std::bit_cast<float>(bits & 0xff7fffffu);  // never the largest exponents
    const Tensor x = full({40}, value).to(DType::bf16);
    RC_ASSERT(x.at({39}) == nearest_bfloat16(value));
    RC_ASSERT(x.to(DType::f32).at({0}) == x.at({0}));
  }));
  const Tensor limits = tensor_of({INFINITY, -INFINITY, NAN, 3.4e38}).to(DType::bf16);
  EXPECT_EQ(limits.at({0}), INFINITY);
  EXPECT_EQ(limits.at({1}), -INFINITY);
  EXPECT_TRUE(std::isnan(limits.at({2})));
  EXPECT_EQ(limits.at({3}), INFINITY);
}

TEST(cast, f64_beyond_f32_is_infinite) {
  EXPECT_EQ(tensor_of({1e39, -1e39, 1e-50}, DType::f64).to(DType::f32).to_vector<float>(),
            (std::vector<float>{INFINITY, -INFINITY, 0}));
}

TEST(cast, to_the_same_dtype_is_the_same_tensor) {
  const Tensor x = tensor_of({1, 2});
  EXPECT_TRUE(x.to(DType::f32).shares_memory(x));
  EXPECT_FALSE(x.to(DType::f64).shares_memory(x));
}

TEST(cast, copies_into_any_layout_from_any_layout) {
  EXPECT_TRUE(rc::check([] {
    constexpr std::array kAll{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    const auto any_dtype = [&] { return kAll[static_cast<size_t>(test::any_between(0, 4))]; };
    const Shape shape = test::any_shape();
    Tensor target = test::any_tensor(shape, any_dtype());
    RC_PRE(!target.overlaps_itself());
    const Tensor source = test::any_tensor(test::any_shape_below(shape), any_dtype());
    kernels::copy_into(target, source);
    test::for_each_index(shape, [&](const std::vector<int64_t>& index) {
      double wanted = test::get(source, test::broadcast_index(index, source.shape()));
      if (target.dtype() == DType::i64) wanted = std::trunc(wanted);
      if (target.dtype() == DType::boolean) wanted = wanted != 0;
      if (target.dtype() == DType::bf16) wanted = nearest_bfloat16(static_cast<float>(wanted));
      if (target.dtype() == DType::f32) wanted = static_cast<float>(wanted);
      RC_ASSERT(test::get(target, index) == wanted);
    });
  }));
}

TEST(cast, wants_a_source_that_expands) {
  Tensor target = zeros({2, 3});
  expect_error<ShapeError>(
      [&] {
        kernels::copy_into(target, zeros({2, 2}));
      },
      "[copy] shape (2, 2) does not expand to (2, 3)");
  expect_error<ShapeError>([&] { kernels::copy_into(target, zeros({1, 2, 3})); }, "[copy]");
  expect_error<ValueError>([&] { kernels::copy_into(target, Tensor{}); }, "undefined");
}
