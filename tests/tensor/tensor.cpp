#include <heed/tensor/tensor.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

TEST(tensor, an_undefined_one_gives_errors_and_no_crash) {
  Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_EQ(describe(nothing), "undefined");
  EXPECT_EQ(nothing.version(), 0u);
  expect_error<ValueError>([&] { nothing.data<float>(); }, "came an undefined one");
  expect_error<ValueError>([&] { nothing.mutable_bytes(); }, "came an undefined one");
  expect_error<ShapeError>([&] { nothing.item(); }, "came undefined");
  expect_error<ValueError>([&] { nothing.clone(); }, "came an undefined one");
}

TEST(tensor, a_copy_is_a_handle_and_a_clone_is_not) {
  Tensor a = tensor_of({1, 2});
  const Tensor handle = a;
  const Tensor clone = a.clone();
  a.set({0}, 5);
  EXPECT_EQ(handle.at({0}), 5);
  EXPECT_EQ(clone.at({0}), 1);
  EXPECT_TRUE(handle.shares_memory(a));
  EXPECT_FALSE(a.is_sole_owner());
  EXPECT_TRUE(clone.is_sole_owner());
}

TEST(tensor, elements_are_checked) {
  Tensor a = tensor_of({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(a.at({-1, -3}), 4);
  EXPECT_EQ(a.size(-1), 3);
  expect_error<IndexError>([&] { a.at({0, 3}); }, "[at] index 3 is outside axis 1 of shape (2, 3)");
  expect_error<IndexError>([&] { a.set({-3, 0}, 1); }, "index -3 is outside axis 0");
  expect_error<IndexError>([&] { a.at({0}); }, "wanted 2 indices for shape (2, 3), came 1");
  expect_error<IndexError>([&] { a.size(2); }, "[size]");
  expect_error<ShapeError>([&] { a.item(); }, "wanted one element, came f32(2, 3)");
  expect_error<DTypeError>([&] { a.data<double>(); }, "[data] wanted f64, came f32(2, 3)");
  expect_error<ShapeError>([&] { a.transpose(0, 1).span<float>(); }, "wanted a contiguous tensor");
}

TEST(tensor, every_dtype_holds_its_numbers) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64}) {
    Tensor a = full({2, 2}, 3, dtype);
    a.set({1, 0}, -7);
    EXPECT_EQ(a.at({1, 0}), -7) << name_of(dtype);
    EXPECT_EQ(a.at({0, 1}), 3) << name_of(dtype);
    EXPECT_EQ(a.dtype(), dtype);
  }
  Tensor flags = zeros({2}, DType::boolean);
  flags.set({1}, 0.5);
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(tensor, every_write_bumps_the_version_of_the_memory) {
  Tensor a = zeros({2, 3});
  const Tensor view = a.select(0, 1);
  uint64_t before = a.version();
  const auto bumped = [&] { return std::exchange(before, view.version()) < view.version(); };
  a.set({0, 0}, 1);
  EXPECT_TRUE(bumped());
  a.fill(2);
  EXPECT_TRUE(bumped());
  a.transpose(0, 1).fill(3);
  EXPECT_TRUE(bumped());
  a.copy_from(scalar(1));
  EXPECT_TRUE(bumped());
  a.mutable_span<float>()[0] = 1;
  EXPECT_TRUE(bumped());
  a.mutable_bytes();
  EXPECT_TRUE(bumped());
  kernels::add_into(a, scalar(1));
  EXPECT_TRUE(bumped());
  EXPECT_FALSE(a.at({0, 0}) == 0 || bumped()) << "reading is no edit";
}

// (c) of the case; its other parts need gradients.
TEST(case_C13, writing_to_an_expanded_tensor_is_an_error) {
  const Tensor one = tensor_of({{1}});
  Tensor t = one.expand({4, 5});
  EXPECT_TRUE(t.overlaps_itself());
  const std::string part = "elements of f32(4, 5) share places in memory";
  expect_error<ValueError>([&] { kernels::add_into(t, scalar(1)); }, part);
  expect_error<ValueError>([&] { kernels::scale_into(t, 2); }, part);
  expect_error<ValueError>([&] { t.fill(2); }, part);
  expect_error<ValueError>([&] { t.set({0, 0}, 2); }, part);
  expect_error<ValueError>([&] { t.copy_from(ones({4, 5})); }, part);
  expect_error<ValueError>([&] { t.mutable_data<float>(); }, part);
  EXPECT_EQ(one.item(), 1);
  Tensor own = t.clone();
  kernels::add_into(own, scalar(1));
  EXPECT_TRUE(equal(own, full({4, 5}, 2)));
}

TEST(case_C13, so_is_writing_to_any_view_that_overlaps_itself) {
  const Tensor row = arange(0, 10);
  Tensor windows = row.view({4, 3}, {2, 1}, 0);  // each shares an element with the next
  EXPECT_TRUE(windows.overlaps_itself());
  expect_error<ValueError>([&] { windows.fill(0); }, "elements of f32(4, 3) share places in memory");
  EXPECT_TRUE(equal(row, arange(0, 10)));
  for (Tensor apart : {row.view({4, 2}, {2, 1}, 1), row.view({3}, {-3}, 9), row.view({2, 5}, {1, 2}, 0),
                       row.view({1, 3}, {0, 1}, 2)}) {
    EXPECT_FALSE(apart.overlaps_itself());
    const Tensor copy = apart.clone();
    kernels::add_into(apart, scalar(1));
    EXPECT_TRUE(equal(apart, kernels::add(copy, scalar(1))));
  }
}

TEST(case_C13, an_expanded_axis_of_size_one_or_zero_is_writable) {
  Tensor row = ones({3});
  row.expand({1, 3}).fill(2);
  EXPECT_EQ(row.at({2}), 2);
  Tensor none = ones({1}).expand({0});
  none.fill(4);
  EXPECT_EQ(none.numel(), 0);
}

TEST(tensor, copies_between_overlapping_views_read_before_they_write) {
  Tensor a = arange(0, 6);
  a.slice(0, 1, 6).copy_from(a.slice(0, 0, 5));
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 0, 1, 2, 3, 4}));
  Tensor square = arange(0, 9).reshape({3, 3});
  square.copy_from(square.transpose(0, 1));
  EXPECT_EQ(square.to_vector<float>(), (std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(tensor, copies_broadcast_and_convert) {
  Tensor a = zeros({2, 3}, DType::i64);
  a.copy_from(tensor_of({1.9, -1.9, 7}));
  EXPECT_EQ(a.to_vector<int64_t>(), (std::vector<int64_t>{1, -1, 7, 1, -1, 7}));
  expect_error<ShapeError>([&] { a.copy_from(ones({2})); }, "[copy] shape (2,) does not expand to (2, 3)");
}

TEST(tensor, contiguous_and_clone_keep_the_numbers_of_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor a = test::any_tensor(test::any_shape());
    const Tensor b = a.clone();
    RC_ASSERT(b.is_contiguous() && !b.shares_memory(a));
    size_t place = 0;
    const std::vector<double> values = a.to_vector<double>();
    test::for_each_index(a.shape(), [&](const std::vector<int64_t>& index) {
      const double value = test::get(a, index);
      RC_ASSERT(value == test::get(b, index));
      RC_ASSERT(value == values[place++]);
    });
    RC_ASSERT(a.contiguous().shares_memory(a) == a.is_contiguous());
  }));
}

TEST(tensor, more_elements_than_any_memory_are_a_memory_error) {
  expect_error<MemoryError>([] { Tensor::empty({int64_t{1} << 60}, DType::f64); }, "(1152921504606846976,)");
  expect_error<MemoryError>([] { arange(0, 0x1p61); }, "[empty]");
  expect_error<ShapeError>([] { Tensor::empty({int64_t{1} << 62, 4}); }, "fewer than 2^63");
  expect_error<ShapeError>([] { Tensor::empty({-1}); }, "sizes of 0 or more");
}
