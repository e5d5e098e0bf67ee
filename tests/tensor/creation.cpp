#include <heed/tensor/creation.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

TEST(creation, fills) {
  EXPECT_EQ(zeros({2}).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(ones({2}, DType::i64).to_vector<int64_t>(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(full({2}, 2.5, DType::f64).to_vector<double>(), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(scalar(3).shape(), (Shape{}));
  EXPECT_EQ(scalar(3).item(), 3);
  EXPECT_EQ(ones_like(zeros({3, 0}, DType::bf16)).shape(), (Shape{3, 0}));
  EXPECT_EQ(zeros_like(ones({1}, DType::boolean)).dtype(), DType::boolean);
}

TEST(creation, arange_ends_before_the_end) {
  EXPECT_EQ(arange(0, 3).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(arange(1, 2, 0.25, DType::f64).to_vector<double>(), (std::vector<double>{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(arange(3, 0, -2, DType::i64).to_vector<int64_t>(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(arange(2, 2).numel(), 0);
  expect_error<ValueError>([] { arange(0, 3, 0); }, "[arange] wanted a step that leads from 0 to 3, came 0");
  expect_error<ValueError>([] { arange(0, 3, -1); }, "came -1");
  expect_error<ValueError>([] { arange(0, INFINITY); }, "from 0 to inf");
  expect_error<ValueError>([] { arange(0, NAN); }, "from 0 to nan");
  expect_error<ValueError>([] { arange(0, 1e300); }, "fewer than 2^62");
}

TEST(creation, linspace_holds_both_ends) {
  EXPECT_EQ(linspace(0, 1, 5).to_vector<float>(), (std::vector<float>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(linspace(0, 0.1, 7, DType::f64).to_vector<double>().back(), 0.1);
  EXPECT_EQ(linspace(2, 9, 1).to_vector<float>(), (std::vector<float>{2}));
  EXPECT_EQ(linspace(2, 9, 0).numel(), 0);
  expect_error<ValueError>([] { linspace(0, 1, -1); }, "[linspace] wanted a count of 0 or more, came -1");
  expect_error<MemoryError>([] { linspace(0, 1, int64_t{1} << 61); }, "[empty]");
}

TEST(creation, eye_has_ones_on_the_diagonal) {
  EXPECT_EQ(eye(2, 3).to_vector<float>(), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(0, 3).shape(), (Shape{0, 3}));
}

TEST(creation, wrapped_memory_is_not_copied_and_its_owner_is_kept) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.5f);
  const std::weak_ptr<std::vector<float>> watch = owner;
  float* memory = owner->data();
  const int64_t before = memory_stats().current;
  Tensor whole = wrap<float>(*owner, {2, 3}, owner);
  owner.reset();
  EXPECT_EQ(memory_stats().current, before);
  EXPECT_EQ(whole.data<float>(), memory);
  EXPECT_FALSE(whole.is_sole_owner());
  whole.set({1, 2}, 4);
  EXPECT_EQ(memory[5], 4);
  memory[0] = -1;
  EXPECT_EQ(whole.at({0, 0}), -1);
  Tensor part = whole.select(0, 1);
  whole = Tensor();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{1.5f, 1.5f, 4}));
  part = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(creation, wrap_takes_every_dtype_and_refuses_what_does_not_fit) {
  std::array<double, 2> doubles{1, 2};
  std::array<int64_t, 2> wholes{3, 4};
  std::array<bool, 2> flags{true, false};
  std::array<bfloat16, 2> shorts{bfloat16(5), bfloat16(6)};
  EXPECT_EQ(wrap<double>(doubles, {2}).dtype(), DType::f64);
  EXPECT_EQ(wrap<int64_t>(wholes, {2, 1}).at({1, 0}), 4);
  EXPECT_EQ(wrap<bool>(flags, {2}).at({0}), 1);
  EXPECT_EQ(wrap<bfloat16>(shorts, {2}).at({1}), 6);
  EXPECT_EQ(wrap<double>({}, {0, 3}).numel(), 0);
  expect_error<ShapeError>([&] { wrap<double>(doubles, {3}); },
                           "[wrap] wanted 3 values for shape (3,), came 2");
  std::array<std::byte, 16> bytes{};
  const std::span<float> crooked(reinterpret_cast<float*>(bytes.data() + 1), 2);
  expect_error<ValueError>([&] { wrap<float>(crooked, {2}); }, "[wrap] wanted memory aligned to 4 bytes");
}

TEST(creation, from_values_wants_as_many_as_the_shape_holds) {
  const std::array<double, 4> values{1, 2, 3, 4};
  EXPECT_EQ(from_values<double>(values, {2, 2}).at({1, 0}), 3);
  expect_error<ShapeError>([&] { from_values<double>(values, {3}); },
                           "[from_values] wanted 3 values for shape (3,), came 4");
}

TEST(creation, nested_lists) {
  EXPECT_EQ(tensor_of({1, 2}).shape(), (Shape{2}));
  EXPECT_EQ(tensor_of({{1, 2, 3}, {4, 5, 6}}, DType::i64).at({1, 2}), 6);
  const Tensor blocks = tensor_of({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}});
  EXPECT_EQ(blocks.shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(blocks.at({2, 0, 1}), 10);
  EXPECT_EQ(tensor_of({{1}}).shape(), (Shape{1, 1}));
  EXPECT_EQ(tensor_of({{1}, {2}}).shape(), (Shape{2, 1}));
  EXPECT_EQ(tensor_of({{{{5}}}}).shape(), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(tensor_of({}).shape(), (Shape{0}));
  EXPECT_EQ(tensor_of({NestedList{}, NestedList{}}).shape(), (Shape{2, 0}));
  EXPECT_EQ(tensor_of(7).shape(), Shape{});
  expect_error<ShapeError>(
      [] {
        tensor_of({{1, 2}, {3}});
      },
      "[tensor_of] wanted lists of one shape, came (1,) beside (2,)");
  expect_error<ShapeError>([] { tensor_of({{1, 2}, 3}); }, "came () beside (2,)");
}
