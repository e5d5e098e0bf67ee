#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include <heed/tensor/shape.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(shape, reads_as_a_tuple) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{5}), "(5,)");
  EXPECT_EQ(to_string(Shape{2, 0, 3}), "(2, 0, 3)");
}

TEST(shape, counts_elements_in_64_bits) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4}), 12);
  EXPECT_EQ(element_count({int64_t{1} << 40, 1 << 20}), int64_t{1} << 60);
  EXPECT_EQ(element_count({kLargest, kLargest, 0}), 0);
  expect_error<ShapeError>([] { element_count({kLargest, 2}); }, "fewer than 2^63 elements");
  expect_error<ShapeError>([] { element_count({2, -1}); }, "sizes of 0 or more, came (2, -1)");
}

TEST(shape, strides_of_no_elements_do_not_overflow) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Strides{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({0, kLargest, kLargest}).rank(), 3);
}

TEST(shape, has_at_most_eight_axes) {
  Shape shape = Dims::filled(8, 1);
  expect_error<ShapeError>([&] { shape.push_back(1); }, "at most 8 axes");
  expect_error<ShapeError>([] { Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, "at most 8 axes, came 9");
}

TEST(shape, inserts_and_erases) {
  Shape shape{2, 3};
  shape.insert(0, 7);
  shape.insert(2, 8);
  shape.insert(4, 9);
  EXPECT_EQ(shape, (Shape{7, 2, 8, 3, 9}));
  shape.erase(0);
  shape.erase(3);
  EXPECT_EQ(shape, (Shape{2, 8, 3}));
}

TEST(shape, broadcasts_as_numpy_does) {
  EXPECT_EQ(broadcast_shapes("op", {3, 1}, {4}), (Shape{3, 4}));
  EXPECT_EQ(broadcast_shapes("op", {}, {2, 2}), (Shape{2, 2}));
  EXPECT_EQ(broadcast_shapes("op", {1}, {0}), (Shape{0}));
  expect_error<ShapeError>(
      [] {
        broadcast_shapes("op", {2, 3}, {2});
      },
      "[op] shapes do not broadcast: (2, 3) and (2,)");
  expect_error<ShapeError>([] { broadcast_shapes("op", {0}, {2}); }, "(0,) and (2,)");
}

TEST(shape, both_sides_expand_to_what_they_broadcast_to) {
  EXPECT_TRUE(rc::check([] {
    const Shape whole = test::any_shape();
    const Shape a = test::any_shape_below(whole), b = test::any_shape_below(whole);
    const Shape common = broadcast_shapes("op", a, b);
    RC_ASSERT(expandable(a, common) && expandable(b, common) && expandable(common, whole));
    RC_ASSERT(common == broadcast_shapes("op", b, a));
  }));
}

TEST(shape, counts_axes_from_the_end) {
  EXPECT_EQ(normalize_axis("op", -1, 3), 2);
  EXPECT_EQ(normalize_axis("op", 2, 3), 2);
  expect_error<IndexError>([] { normalize_axis("op", 3, 3); }, "[op] wanted an axis in [-3, 3), came 3");
  expect_error<IndexError>([] { normalize_axis("op", -4, 3); }, "came -4");
  expect_error<IndexError>([] { normalize_axis("op", 0, 0); }, "came 0");
}

TEST(shape, reduced_axes_go_or_become_1) {
  EXPECT_EQ(reduced_shape("op", {2, 3, 4}, {1}, false), (Shape{2, 4}));
  EXPECT_EQ(reduced_shape("op", {2, 3, 4}, {-1, 0}, true), (Shape{1, 3, 1}));
  EXPECT_EQ(reduced_shape("op", {2, 0}, {}, false), Shape{});
  EXPECT_EQ(reduced_shape("op", {2, 0}, {}, true), (Shape{1, 1}));
  EXPECT_EQ(reduced_shape("op", {}, {}, true), Shape{});
  expect_error<IndexError>(
      [] {
        reduced_shape("op", {2, 3}, {2}, false);
      },
      "[op] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>(
      [] {
        reduced_shape("op", {2, 3}, {0, -2}, true);
      },
      "[op] wanted every axis once, came (0, -2)");
}
