#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/tensor.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

Tensor two_by_three() { return arange(0, 6).reshape({2, 3}); }

}  // namespace

TEST(views, slices) {
  const Tensor a = arange(0, 10);
  EXPECT_EQ(a.slice(0, 2, 9, 3).to_vector<float>(), (std::vector<float>{2, 5, 8}));
  EXPECT_EQ(a.slice(0, -3, -1).to_vector<float>(), (std::vector<float>{7, 8}));
  EXPECT_EQ(a.slice(0, 4, 4).shape(), (Shape{0}));
  EXPECT_EQ(a.slice(0, 3, 10, kLargest).to_vector<float>(), (std::vector<float>{3}));
  EXPECT_TRUE(a.slice(0, 2, 4).shares_memory(a));
  expect_error<IndexError>([&] { a.slice(0, 0, 11); }, "[slice] wanted 0 <= begin <= end <= 10");
  expect_error<IndexError>([&] { a.slice(0, 5, 4); }, "came [5, 4) by 1");
  expect_error<IndexError>([&] { a.slice(0, -11, 4); }, "came [-1, 4) by 1");
  expect_error<IndexError>([&] { a.slice(0, 0, 4, 0); }, "by 0");
  expect_error<IndexError>([&] { a.slice(1, 0, 4); }, "wanted an axis in [-1, 1), came 1");
}

TEST(views, selects) {
  const Tensor a = two_by_three();
  EXPECT_EQ(a.select(0, 1).to_vector<float>(), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(a.select(-1, -1).to_vector<float>(), (std::vector<float>{2, 5}));
  expect_error<IndexError>([&] { a.select(0, 2); }, "[select] index 2 is outside axis 0 of shape (2, 3)");
  expect_error<IndexError>([&] { scalar(1).select(0, 0); }, "[select]");
}

TEST(views, transposes_and_permutes) {
  const Tensor a = arange(0, 24).reshape({2, 3, 4});
  EXPECT_EQ(a.transpose(0, -1).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(a.transpose(0, -1).at({3, 2, 1}), a.at({1, 2, 3}));
  EXPECT_EQ(a.permute({2, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(a.permute({2, 0, -2}).at({3, 1, 0}), a.at({1, 0, 3}));
  expect_error<ShapeError>(
      [&] {
        a.permute({0, 1});
      },
      "[permute] wanted 3 axes for shape (2, 3, 4), came (0, 1)");
  expect_error<ShapeError>([&] { a.permute({0, 1, -2}); }, "wanted every axis once");
  expect_error<IndexError>([&] { a.permute({0, 1, 3}); }, "[permute]");
}

TEST(views, expands) {
  const Tensor a = tensor_of({{1}, {2}});
  EXPECT_EQ(a.expand({3, 2, 2}).to_vector<float>(), (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(a.expand({2, 0}).numel(), 0);
  expect_error<ShapeError>([&] { a.expand({3, 1}); }, "[expand] shape (2, 1) does not expand to (3, 1)");
  expect_error<ShapeError>([&] { a.expand({2}); }, "does not expand to (2,)");
  expect_error<ShapeError>([&] { a.expand({2, -1}); }, "sizes of 0 or more");
}

TEST(views, squeezes_and_unsqueezes) {
  const Tensor a = two_by_three();
  EXPECT_EQ(a.unsqueeze(0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(a.unsqueeze(-1).shape(), (Shape{2, 3, 1}));
  EXPECT_TRUE(a.unsqueeze(1).is_contiguous());
  EXPECT_TRUE(equal(a.unsqueeze(1).squeeze(1), a));
  expect_error<ShapeError>([&] { a.squeeze(0); },
                           "[squeeze] wanted an axis of size 1, came axis 0 of shape (2, 3)");
  expect_error<IndexError>([&] { a.unsqueeze(3); }, "[unsqueeze]");
}

TEST(views, reshape_copies_only_when_it_must) {
  const Tensor a = arange(0, 24).reshape({2, 3, 4});
  EXPECT_TRUE(a.reshape({6, -1}).shares_memory(a));
  EXPECT_EQ(a.reshape({-1}).shape(), (Shape{24}));
  const Tensor t = a.transpose(0, 1);  // (3, 2, 4), strides (4, 12, 1)
  EXPECT_TRUE(t.reshape({3, 2, 2, 2}).shares_memory(a));
  EXPECT_TRUE(t.reshape({3, 1, 2, 4}).shares_memory(a));
  EXPECT_FALSE(t.reshape({6, 4}).shares_memory(a));
  EXPECT_EQ(t.reshape({6, 4}).at({1, 0}), 12);
  EXPECT_TRUE(ones({3, 1}).expand({3, 4}).reshape({3, 2, 2}).overlaps_itself());
}

TEST(views, reshape_checks_the_sizes) {
  const Tensor a = two_by_three();
  expect_error<ShapeError>([&] { a.reshape({4}); }, "[reshape] sizes do not match: (2, 3) to (4,)");
  expect_error<ShapeError>([&] { a.reshape({4, -1}); }, "(2, 3) to (4, -1)");
  expect_error<ShapeError>([&] { a.reshape({-1, -1}); }, "at most one size of -1");
  expect_error<ShapeError>([&] { a.reshape({0, -1}); }, "sizes do not match");
  expect_error<ShapeError>([&] { a.reshape({-2, -3}); }, "sizes of 0 or more");
  expect_error<ShapeError>([&] { a.reshape({kLargest, kLargest, -1}); }, "fewer than 2^63");
  EXPECT_EQ(zeros({2, 0, 3}).reshape({0, 5}).shape(), (Shape{0, 5}));
  EXPECT_EQ(zeros({2, 0, 3}).reshape({3, -1}).shape(), (Shape{3, 0}));
}

TEST(views, reshape_keeps_row_major_order_in_any_layout) {
  EXPECT_TRUE(rc::check([] {
    const Tensor a = test::any_tensor(test::any_shape());
    Shape to;  // the sizes of a, some of them joined, ones between
    for (const int64_t size : a.shape()) {
      if (test::any_between(0, 3) == 0 && to.rank() < 7) to.push_back(1);
      if (!to.empty() && test::any_between(0, 1) == 0)
        to[to.rank() - 1] *= size;
      else if (to.rank() < 8)
        to.push_back(size);
      else
        to[7] *= size;
    }
    const Tensor b = a.reshape(to);
    RC_ASSERT(b.shape() == to);
    RC_ASSERT(b.to_vector<double>() == a.to_vector<double>());
  }));
}

TEST(views, a_view_stays_inside_the_memory) {
  const Tensor a = arange(0, 6);
  EXPECT_EQ(a.view({2, 2}, {3, 1}, 1).to_vector<float>(), (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(a.view({3}, {-2}, 5).to_vector<float>(), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(a.view({0, 9}, {1, 1}, 99).numel(), 0);
  expect_error<IndexError>(
      [&] { a.view({7}, {1}, 0); },
      "[view] shape (7,) with strides (1,) from element 0 on lies outside the memory of f32(6,)");
  expect_error<IndexError>([&] { a.view({2}, {1}, -1); }, "from element -1");
  expect_error<IndexError>([&] { a.view({3}, {-3}, 5); }, "strides (-3,)");
  expect_error<IndexError>([&] { a.view({3}, {kLargest}, 0); }, "outside the memory");
  expect_error<IndexError>([&] { a.view({2, 2}, {1}, 0); }, "outside the memory");
}

TEST(views, empty_tensors_have_every_view) {
  const Tensor a = zeros({2, 0, 3});
  EXPECT_EQ(a.transpose(0, 1).shape(), (Shape{0, 2, 3}));
  EXPECT_EQ(a.select(0, 1).shape(), (Shape{0, 3}));
  EXPECT_EQ(a.slice(2, 1, 3).shape(), (Shape{2, 0, 2}));
  EXPECT_TRUE(a.transpose(0, 2).is_contiguous());
  EXPECT_EQ(a.clone().shape(), a.shape());
  expect_error<IndexError>([&] { a.select(1, 0); }, "[select] index 0 is outside axis 1");
}
