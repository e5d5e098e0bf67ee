#include <heed/tensor/kernels/matmul.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

constexpr std::array kFloats{DType::f32, DType::f64, DType::bf16};

/// How far a product may be from the exact one: `ulps` for the rounding of the result, and for the sums a
/// part of the sum of the magnitudes.
struct Tolerance {
  double result, sum;
};

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return {1e-15, 1e-14};
    case DType::bf16: return {1.0 / 256, 1e-5};
    default: return {1e-6, 1e-6};
  }
}

/// A batch axis of `shape` put before a matrix's two axes.
Shape with_matrix(Shape shape, int64_t rows, int64_t columns) {
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

std::vector<int64_t> index_of(const std::vector<int64_t>& batch, const Tensor& x, int64_t row,
                              int64_t column) {
  Shape lead = x.shape();
  lead.erase(lead.rank() - 1);
  lead.erase(lead.rank() - 1);
  std::vector<int64_t> index = test::broadcast_index(batch, lead);
  index.push_back(row);
  index.push_back(column);
  return index;
}

/// Whether c = a b, element by element in f64.
bool is_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  const Tolerance tolerance = tolerance_of(c.dtype());
  bool right = true;
  test::for_each_index(c.shape(), [&](const std::vector<int64_t>& index) {
    const std::vector<int64_t> batch(index.begin(), index.end() - 2);
    const int64_t row = index[index.size() - 2], column = index.back();
    double sum = 0, magnitudes = 0;
    for (int64_t k = 0; k < a.size(-1); ++k) {
      const double term =
          test::get(a, index_of(batch, a, row, k)) * test::get(b, index_of(batch, b, k, column));
      sum += term;
      magnitudes += std::abs(term);
    }
    const double error = std::abs(test::get(c, index) - sum);
    right = right && error <= tolerance.result * std::abs(sum) + tolerance.sum * magnitudes;
  });
  return right;
}

}  // namespace

TEST(matmul, products_of_any_shape_layout_and_broadcast) {
  EXPECT_TRUE(rc::check([] {
    const DType dtype = kFloats[static_cast<size_t>(test::any_between(0, 2))];
    const Shape batch = test::any_shape(2, 3);
    const int64_t m = test::any_between(0, 6), k = test::any_between(0, 6), n = test::any_between(0, 6);
    const Tensor a = test::any_tensor(with_matrix(test::any_shape_below(batch), m, k), dtype);
    const Tensor b = test::any_tensor(with_matrix(test::any_shape_below(batch), k, n), dtype);
    const Tensor c = kernels::matmul(a, b);
    RC_ASSERT(c.dtype() == dtype);
    RC_ASSERT(c.size(-2) == m && c.size(-1) == n);
    RC_ASSERT(is_product(c, a, b));
  }));
}

TEST(matmul, transposes_and_heads_of_real_sizes) {
  Generator generator(1);
  for (const DType dtype : kFloats) {
    const auto random = [&](const Shape& shape) {
      return rand_normal(shape, 0, 1, DType::f32, generator).to(dtype);
    };
    const Tensor a = random({33, 70}), b = random({70, 41});
    EXPECT_TRUE(is_product(kernels::matmul(a, b), a, b));
    EXPECT_TRUE(is_product(kernels::matmul(b.transpose(0, 1), a.transpose(0, 1)), b.transpose(0, 1),
                           a.transpose(0, 1)));
    // (batch, length, heads, width) seen as (batch, heads, length, width), as attention does
    const Tensor q = random({2, 10, 4, 8}).transpose(1, 2), k = random({2, 12, 4, 8}).transpose(1, 2);
    const Tensor scores = kernels::matmul(q, k.transpose(2, 3));
    EXPECT_EQ(scores.shape(), (Shape{2, 4, 10, 12}));
    EXPECT_TRUE(is_product(scores, q, k.transpose(2, 3)));
    EXPECT_TRUE(is_product(kernels::matmul(scores, k), scores, k));
  }
}

TEST(matmul, one_matrix_for_a_whole_batch) {
  Generator generator(2);
  for (const DType dtype : kFloats) {
    const Tensor x = rand_normal({3, 5, 7}, 0, 1, DType::f32, generator).to(dtype);
    const Tensor w = rand_normal({7, 4}, 0, 1, DType::f32, generator).to(dtype);
    EXPECT_TRUE(is_product(kernels::matmul(x, w), x, w));
    const Tensor wt = w.transpose(0, 1), xt = x.transpose(1, 2);
    EXPECT_TRUE(is_product(kernels::matmul(wt, xt), wt, xt));
    const Tensor many = w.expand({3, 7, 4});
    EXPECT_TRUE(is_product(kernels::matmul(x, many), x, many));
  }
}

TEST(matmul, batches_that_are_one_matrix_or_lie_interleaved) {
  for (const DType dtype : kFloats) {
    const Tensor a = arange(0, 6, 1, dtype).reshape({2, 3}), b = arange(0, 12, 1, dtype).reshape({3, 4});
    const Tensor many_a = a.expand({5, 2, 3}), many_b = b.expand({5, 3, 4});
    EXPECT_TRUE(is_product(kernels::matmul(many_a, many_b), many_a, many_b));
    EXPECT_TRUE(is_product(kernels::matmul(many_a, b), many_a, b));
    EXPECT_TRUE(is_product(kernels::matmul(a, many_b), a, many_b));
    // element (i, row, column) at 5 i + 3 row + 9 column: no axis steps over all of another
    const Tensor woven = arange(0, 40, 1, dtype).view({2, 3, 3}, {5, 3, 9}, 0);
    EXPECT_TRUE(is_product(kernels::matmul(woven, woven), woven, woven));
    EXPECT_TRUE(is_product(kernels::matmul(a.slice(0, 0, 1), woven), a.slice(0, 0, 1), woven));
  }
}

TEST(matmul, sizes_of_zero_are_defined) {
  for (const DType dtype : kFloats) {
    EXPECT_TRUE(equal(kernels::matmul(zeros({2, 0}, dtype), zeros({0, 3}, dtype)), zeros({2, 3}, dtype)));
    EXPECT_EQ(kernels::matmul(zeros({0, 2}, dtype), zeros({2, 3}, dtype)).shape(), (Shape{0, 3}));
    EXPECT_EQ(kernels::matmul(zeros({0, 4, 2}, dtype), zeros({2, 3}, dtype)).shape(), (Shape{0, 4, 3}));
    EXPECT_EQ(kernels::matmul(zeros({5, 1, 0, 2}, dtype), zeros({4, 2, 0}, dtype)).shape(),
              (Shape{5, 4, 0, 0}));
  }
}

TEST(matmul, infinities_and_nan_reach_the_result) {
  for (const DType dtype : kFloats) {
    const Tensor a = tensor_of({{1, INFINITY}, {0, 1}, {NAN, 1}}, dtype);
    const auto c = kernels::matmul(a, tensor_of({{2, 0}, {3, 0}}, dtype));
    EXPECT_EQ(c.at({0, 0}), INFINITY) << name_of(dtype);
    EXPECT_TRUE(std::isnan(c.at({0, 1}))) << name_of(dtype);
    EXPECT_EQ(c.at({1, 0}), 3) << name_of(dtype);
    EXPECT_TRUE(std::isnan(c.at({2, 0}))) << name_of(dtype);
  }
}

TEST(matmul, f64_products_do_not_depend_on_the_threads) {
  Generator generator(3);
  const Tensor a = rand_normal({130, 200}, 0, 1, DType::f64, generator);
  const Tensor b = rand_normal({200, 90}, 0, 1, DType::f64, generator);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = kernels::matmul(a, b);
  set_num_threads(2);
  const Tensor two = kernels::matmul(a, b);
  set_num_threads(before);
  EXPECT_TRUE(identical(one, two));
}

TEST(matmul, wants_matrices_that_fit) {
  expect_error<ShapeError>(
      [] {
        kernels::matmul(zeros({64, 10, 32}), zeros({31, 96}));
      },
      "[matmul] inner sizes differ: (64, 10, 32) x (31, 96)");
  expect_error<ShapeError>(
      [] {
        kernels::matmul(zeros({3}), zeros({3, 2}));
      },
      "[matmul] wanted at least 2 axes each, came (3,) x (3, 2)");
  expect_error<ShapeError>(
      [] {
        kernels::matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
      },
      "[matmul] shapes do not broadcast: (2,) and (3,)");
  expect_error<DTypeError>(
      [] {
        kernels::matmul(zeros({2, 2}), zeros({2, 2}, DType::f64));
      },
      "[matmul] wanted one dtype, came f32(2, 2) and f64(2, 2)");
  expect_error<DTypeError>(
      [] {
        kernels::matmul(zeros({2, 2}, DType::i64), zeros({2, 2}, DType::i64));
      },
      "[matmul] wanted f32, f64 or bf16, came i64(2, 2)");
}

TEST(linear, is_a_product_with_the_transpose_plus_a_bias) {
  EXPECT_TRUE(rc::check([] {
    const DType dtype = test::any_between(0, 1) == 0 ? DType::f32 : DType::f64;
    const int64_t inputs = test::any_between(0, 5), outputs = test::any_between(0, 5);
    Shape shape = test::any_shape(2, 4);
    shape.push_back(inputs);
    const Tensor x = test::any_tensor(shape, dtype), weight = test::any_tensor({outputs, inputs}, dtype);
    const Tensor bias = test::any_tensor({outputs}, dtype);
    const Tensor with = kernels::linear(x, weight, bias), without = kernels::linear(x, weight, {});
    shape[shape.rank() - 1] = outputs;
    RC_ASSERT(with.shape() == shape && without.shape() == shape);
    RC_ASSERT(allclose(with, kernels::add(without, bias), 1e-5, 1e-5));
    const Tensor matrix = x.unsqueeze(-2);
    RC_ASSERT(is_product(without.unsqueeze(-2), matrix, weight.transpose(0, 1)));
  }));
}

TEST(linear, takes_bf16) {
  const Tensor x = tensor_of({{1, 2}}, DType::bf16),
               weight = tensor_of({{3, 4}, {5, 6}, {7, 8}}, DType::bf16);
  EXPECT_EQ(kernels::linear(x, weight, tensor_of({1, 2, 3}, DType::bf16)).to_vector<float>(),
            (std::vector<float>{12, 19, 26}));
}

TEST(linear, without_inputs_gives_the_bias) {
  for (const DType dtype : kFloats) {
    if (dtype == DType::bf16) continue;
    const Tensor bias = tensor_of({1, 2}, dtype);
    EXPECT_TRUE(
        equal(kernels::linear(zeros({3, 0}, dtype), zeros({2, 0}, dtype), bias), bias.expand({3, 2})));
  }
}

TEST(linear, wants_what_fits) {
  const Tensor x = zeros({4, 3}), weight = zeros({2, 3});
  expect_error<ShapeError>(
      [&] {
        kernels::linear(x, zeros({3, 2}), {});
      },
      "[linear] wanted x (..., inputs) and weight (outputs, inputs), came (4, 3) and (3, 2)");
  expect_error<ShapeError>([&] { kernels::linear(scalar(1), weight, {}); }, "came () and (2, 3)");
  expect_error<ShapeError>([&] { kernels::linear(x, weight, zeros({3})); },
                           "[linear] wanted a bias of shape (2,), came (3,)");
  expect_error<DTypeError>([&] { kernels::linear(x, weight, zeros({2}, DType::f64)); },
                           "[linear] wanted one dtype, came f32(4, 3) and f64(2,)");
  expect_error<DTypeError>([&] { kernels::linear(x.to(DType::i64), weight.to(DType::i64), {}); },
                           "[linear] wanted f32, f64 or bf16, came");
}
