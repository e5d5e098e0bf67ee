#include <heed/tensor/compare.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <heed/tensor/creation.h>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

TEST(compare, allclose_weighs_by_the_second_operand) {
  EXPECT_TRUE(allclose(tensor_of({1, 2}), tensor_of({1, 2})));
  EXPECT_TRUE(allclose(tensor_of({101}), tensor_of({100}), 0.01, 0));
  EXPECT_FALSE(allclose(tensor_of({101.1}), tensor_of({100}), 0.01, 0));
  EXPECT_FALSE(allclose(tensor_of({9.0}), tensor_of({10.0}), 0.099, 0));
  EXPECT_TRUE(allclose(tensor_of({1e-9}), tensor_of({0})));
  EXPECT_FALSE(allclose(tensor_of({1e-7}), tensor_of({0})));
  EXPECT_FALSE(allclose(tensor_of({1, 2, 3}), tensor_of({1, 2, 4})));
}

TEST(compare, allclose_knows_infinities_and_nan) {
  EXPECT_TRUE(allclose(tensor_of({INFINITY, -INFINITY}), tensor_of({INFINITY, -INFINITY})));
  EXPECT_FALSE(allclose(tensor_of({INFINITY}), tensor_of({-INFINITY})));
  EXPECT_FALSE(allclose(tensor_of({1}), tensor_of({INFINITY})));
  EXPECT_FALSE(allclose(tensor_of({INFINITY}), tensor_of({1})));
  EXPECT_FALSE(allclose(tensor_of({NAN}), tensor_of({NAN})));
  EXPECT_TRUE(allclose(tensor_of({NAN}), tensor_of({NAN}), 0, 0, true));
  EXPECT_FALSE(allclose(tensor_of({NAN}), tensor_of({1}), 1, 1, true));
  EXPECT_FALSE(allclose(tensor_of({1}), tensor_of({NAN}), 1, 1, true));
}

TEST(compare, allclose_takes_any_layout_and_dtype) {
  const Tensor a = tensor_of({{1, 2}, {3, 4}});
  EXPECT_TRUE(allclose(a.transpose(0, 1), tensor_of({{1, 3}, {2, 4}}, DType::f64)));
  EXPECT_TRUE(allclose(a, tensor_of({{1, 2}, {3, 4}}, DType::i64)));
  EXPECT_TRUE(allclose(tensor_of({1.001}, DType::bf16), tensor_of({1})));
  EXPECT_TRUE(allclose(zeros({0, 3}), zeros({0, 3})));
}

TEST(compare, allclose_wants_one_shape_and_real_tolerances) {
  expect_error<ShapeError>(
      [] {
        allclose(zeros({2}), zeros({2, 1}));
      },
      "[allclose] wanted one shape, came f32(2,) and f32(2, 1)");
  expect_error<ValueError>([] { allclose(zeros({2}), zeros({2}), -1); }, "tolerances of 0 or more, came -1");
  expect_error<ValueError>([] { allclose(zeros({2}), zeros({2}), 0, NAN); }, "and nan");
  expect_error<ValueError>([] { allclose(Tensor{}, Tensor{}); }, "undefined");
}

TEST(compare, equal_is_by_number) {
  EXPECT_TRUE(equal(tensor_of({0.0, 1}), tensor_of({-0.0, 1})));
  EXPECT_FALSE(equal(tensor_of({NAN}), tensor_of({NAN})));
  EXPECT_FALSE(equal(tensor_of({1}), tensor_of({2})));
  EXPECT_FALSE(equal(tensor_of({1}), tensor_of({1}, DType::f64)));
  EXPECT_FALSE(equal(tensor_of({1}), tensor_of({{1}})));
  EXPECT_TRUE(equal(tensor_of({{1, 2}}).transpose(0, 1), tensor_of({{1}, {2}})));
  EXPECT_TRUE(equal(tensor_of({-0.0, 2}, DType::bf16), tensor_of({0, 2}, DType::bf16)));
  expect_error<ValueError>([] { equal(Tensor{}, Tensor{}); }, "[equal] wanted two tensors");
}

TEST(compare, identical_is_by_bit) {
  EXPECT_FALSE(identical(tensor_of({0.0}), tensor_of({-0.0})));
  EXPECT_TRUE(identical(tensor_of({NAN}), tensor_of({NAN})));
  EXPECT_FALSE(identical(zeros({2}), zeros({2}, DType::i64)));
  EXPECT_FALSE(identical(zeros({2, 0}), zeros({0, 2})));
  EXPECT_TRUE(identical(tensor_of({{1, 2}}).transpose(0, 1), tensor_of({{1}, {2}})));
}
