#include <heed/tensor/print.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include <heed/tensor/creation.h>

#include "helpers.h"

using namespace heed;

TEST(print, scalars_in_full) {
  EXPECT_EQ(to_string(scalar(2.5)), "2.5 f32()");
  EXPECT_EQ(to_string(scalar(0.1)), "0.1 f32()");
  EXPECT_EQ(to_string(scalar(0.1, DType::f64)), "0.1 f64()");
  EXPECT_EQ(to_string(scalar(1.0 / 3, DType::f64)), "0.3333333333333333 f64()");
  EXPECT_EQ(to_string(scalar(-7, DType::i64)), "-7 i64()");
  EXPECT_EQ(to_string(scalar(1, DType::boolean)), "true bool()");
  EXPECT_EQ(to_string(scalar(1.5, DType::bf16)), "1.5 bf16()");
  EXPECT_EQ(to_string(scalar(-INFINITY)), "-inf f32()");
  EXPECT_EQ(to_string(scalar(std::abs(NAN))), "nan f32()");
}

TEST(print, columns_are_aligned) {
  EXPECT_EQ(to_string(tensor_of({1, 2.5, -3})), "[ 1.0000,  2.5000, -3.0000] f32(3,)");
  EXPECT_EQ(to_string(tensor_of({{1, -2.5}, {1.0 / 3, INFINITY}})),
            "[[ 1.0000, -2.5000],\n"
            " [ 0.3333,     inf]]\n"
            "f32(2, 2)");
  EXPECT_EQ(to_string(tensor_of({{1, 20}, {-300, 4}}, DType::i64)),
            "[[   1,   20],\n"
            " [-300,    4]]\n"
            "i64(2, 2)");
  EXPECT_EQ(to_string(tensor_of({0, 1}, DType::boolean)), "[false,  true] bool(2,)");
}

TEST(print, whole_floats_keep_a_point) {
  EXPECT_EQ(to_string(tensor_of({1, 10, NAN})), "[ 1., 10., nan] f32(3,)");
  EXPECT_EQ(to_string(zeros({2})), "[0., 0.] f32(2,)");
}

TEST(print, numbers_far_apart_have_exponents) {
  EXPECT_EQ(to_string(tensor_of({0.001, 1000})), "[1.0000e-03, 1.0000e+03] f32(2,)");
  EXPECT_EQ(to_string(tensor_of({1.5e-7, 0}, DType::f64)), "[1.5000e-07, 0.0000e+00] f64(2,)");
  EXPECT_EQ(to_string(tensor_of({1e9})), "[1.0000e+09] f32(1,)");
}

TEST(print, whole_numbers_are_exact) {
  Tensor large = zeros({1}, DType::i64);
  large.mutable_span<int64_t>()[0] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(to_string(large), "[9223372036854775807] i64(1,)");
}

TEST(print, three_axes_have_an_empty_line_between_blocks) {
  EXPECT_EQ(to_string(arange(0, 8, 1, DType::i64).reshape({2, 2, 2})),
            "[[[0, 1],\n"
            "  [2, 3]],\n"
            "\n"
            " [[4, 5],\n"
            "  [6, 7]]]\n"
            "i64(2, 2, 2)");
}

TEST(print, large_tensors_show_their_ends) {
  EXPECT_EQ(to_string(arange(0, 1001, 1, DType::i64)),
            "[   0,    1,    2, ...,  998,  999, 1000] i64(1001,)");
  EXPECT_EQ(to_string(arange(0, 8000, 1, DType::i64).reshape({2000, 4})),
            "[[   0,    1,    2,    3],\n"
            " [   4,    5,    6,    7],\n"
            " [   8,    9,   10,   11],\n"
            " ...,\n"
            " [7988, 7989, 7990, 7991],\n"
            " [7992, 7993, 7994, 7995],\n"
            " [7996, 7997, 7998, 7999]]\n"
            "i64(2000, 4)");
  EXPECT_EQ(to_string(zeros({1}).expand({int64_t{1} << 40})).size(),
            std::string("[0., 0., 0., ..., 0., 0., 0.] f32(1099511627776,)").size());
}

TEST(print, long_rows_are_broken) {
  EXPECT_EQ(to_string(full({30}, 100, DType::i64)),
            "[100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,\n"
            " 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]\n"
            "i64(30,)");
}

TEST(print, views_show_what_they_see) {
  const Tensor a = tensor_of({{1, 2}, {3, 4}}, DType::i64);
  EXPECT_EQ(to_string(a.transpose(0, 1).select(0, 1)), "[2, 4] i64(2,)");
}

TEST(print, empty_and_undefined) {
  EXPECT_EQ(to_string(zeros({0})), "[] f32(0,)");
  EXPECT_EQ(to_string(zeros({2, 0, 3}, DType::i64)), "[] i64(2, 0, 3)");
  EXPECT_EQ(to_string(Tensor{}), "undefined");
}

TEST(print, streams_and_test_messages_use_it) {
  std::ostringstream stream;
  stream << scalar(2);
  EXPECT_EQ(stream.str(), "2 f32()");
  EXPECT_EQ(testing::PrintToString(scalar(2)), "2 f32()");
}
