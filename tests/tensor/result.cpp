// Kernels that fill a tensor handed in.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/gelu.h>
#include <heed/tensor/kernels/layer_norm.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/kernels/softmax.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/random.h>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

using Kernel = std::function<Tensor(const Tensor& x, Tensor* into)>;

/// Kernels from (5, 4, 4) to (5, 4, 4).
std::map<std::string, Kernel> all_kernels() {
  Generator generator(3);
  const auto random = [&](const Shape& shape) { return rand_normal(shape, 0, 1, DType::f64, generator); };
  const Tensor row = random({4}), square = random({4, 4});
  return {
      {"exp", [](const Tensor& x, Tensor* into) { return kernels::exp(x, into); }},
      {"tanh", [](const Tensor& x, Tensor* into) { return kernels::tanh(x, into); }},
      {"clamp", [](const Tensor& x, Tensor* into) { return kernels::clamp(x, -0.5, 0.5, into); }},
      {"gelu",
       [](const Tensor& x, Tensor* into) { return kernels::gelu(x, kernels::GeluForm::exact, into); }},
      {"add", [=](const Tensor& x, Tensor* into) { return kernels::add(row, x, into); }},
      {"mul", [=](const Tensor& x, Tensor* into) { return kernels::mul(x, x, into); }},
      {"softmax", [](const Tensor& x, Tensor* into) { return kernels::softmax(x, -1, into); }},
      {"softmax of axis 0", [](const Tensor& x, Tensor* into) { return kernels::softmax(x, 0, into); }},
      {"log_softmax", [](const Tensor& x, Tensor* into) { return kernels::log_softmax(x, 2, into); }},
      {"softmax_backward",
       [](const Tensor& x, Tensor* into) { return kernels::softmax_backward(x, x, 1, into); }},
      {"masked_softmax",
       [](const Tensor& x, Tensor* into) { return kernels::masked_softmax(x, {.causal = true}, into); }},
      {"layer_norm",
       [=](const Tensor& x, Tensor* into) { return kernels::layer_norm(x, row, row, 1e-5, into).y; }},
      {"matmul", [=](const Tensor& x, Tensor* into) { return kernels::matmul(x, square, into); }},
      {"batched matmul",
       [](const Tensor& x, Tensor* into) { return kernels::matmul(x, x.transpose(1, 2), into); }},
      {"linear", [=](const Tensor& x, Tensor* into) { return kernels::linear(x, square, row, into); }},
  };
}

const Shape kShape{5, 4, 4};

Tensor random_x() {
  Generator generator(1);
  return rand_normal(kShape, 0, 1, DType::f64, generator);
}

}  // namespace

TEST(result, fills_what_is_handed_in_whatever_its_layout) {
  for (const auto& [name, kernel] : all_kernels()) {
    SCOPED_TRACE(name);
    const Tensor x = random_x(), wanted = kernel(x, nullptr);
    Tensor plain = zeros(kShape, DType::f64), none;
    Tensor turned = zeros({4, 4, 5}, DType::f64).permute({2, 1, 0});
    Tensor part = zeros({6, 4, 8}, DType::f64).slice(0, 1, 6).slice(2, 1, 8, 2);
    for (Tensor* into : {&plain, &turned, &part, &none}) {
      const auto version = into->version();
      const Tensor came = kernel(x, into);
      // Steps between elements leave the vector functions, whose last digit may differ.
      EXPECT_TRUE(allclose(*into, wanted, 1e-15, 1e-15));
      EXPECT_TRUE(equal(came, *into));
      EXPECT_TRUE(into->shares_memory(came));
      EXPECT_NE(into->version(), version);
    }
  }
}

TEST(result, may_be_an_operand_or_overlap_one) {
  for (const auto& [name, kernel] : all_kernels()) {
    SCOPED_TRACE(name);
    const Tensor x = random_x(), wanted = kernel(x, nullptr);
    Tensor same = x.clone();
    kernel(same, &same);
    EXPECT_TRUE(equal(same, wanted));
    // from elements 0 ... 79 into elements 3 ... 82 of one memory
    Tensor memory = zeros({83}, DType::f64);
    Tensor from = memory.view(kShape, x.strides(), 0), into = memory.view(kShape, x.strides(), 3);
    from.copy_from(x);
    kernel(from, &into);
    EXPECT_TRUE(equal(into, wanted));
    Tensor turned = x.clone().transpose(1, 2);  // the same places in another order
    kernel(turned.transpose(1, 2), &turned);
    EXPECT_TRUE(equal(turned, wanted));
  }
}

TEST(result, that_does_not_fit_is_refused_untouched) {
  for (const auto& [name, kernel] : all_kernels()) {
    SCOPED_TRACE(name);
    const Tensor x = random_x();
    Tensor small = zeros({5, 4, 3}, DType::f64), other = zeros(kShape),
           expanded = zeros({1}, DType::f64).expand(kShape);
    expect_error<ShapeError>([&] { kernel(x, &small); },
                             "wanted a result of shape (5, 4, 4), came (5, 4, 3)");
    expect_error<DTypeError>([&] { kernel(x, &other); }, "wanted a result of f64, came f32(5, 4, 4)");
    expect_error<ValueError>([&] { kernel(x, &expanded); }, "share places in memory");
    EXPECT_TRUE(equal(small, zeros_like(small)) && equal(other, zeros_like(other)));
    EXPECT_EQ(expanded.at({0, 0, 0}), 0);
  }
}

// Written past the caches, in whole and in odd parts, the numbers are what they are for small tensors.
TEST(result, of_any_size_is_the_same) {
  constexpr int64_t kRows = 1100, kWidth = 8193;  // 36 MB
  Generator generator(7);
  const Tensor x = rand_uniform({kRows, kWidth}, -3, 3, DType::f32, generator);
  const Tensor weight = rand_uniform({kWidth}, 0, 1, DType::f32, generator);
  const Tensor raised = kernels::exp(x), shares = kernels::softmax(x, -1),
               normal = kernels::layer_norm(x, weight, weight, 1e-5).y;
  for (const int64_t row : {int64_t{0}, int64_t{1}, kRows / 2, kRows - 1}) {
    const Tensor line = x.slice(0, row, row + 1).clone();
    EXPECT_TRUE(equal(raised.slice(0, row, row + 1), kernels::exp(line)));
    EXPECT_TRUE(equal(shares.slice(0, row, row + 1), kernels::softmax(line, -1)));
    EXPECT_TRUE(equal(normal.slice(0, row, row + 1), kernels::layer_norm(line, weight, weight, 1e-5).y));
  }
}
