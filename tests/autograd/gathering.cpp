#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

/// A matrix that takes part in many products: their gradients are multiplied several at a time.
namespace heed::test {
namespace {

/// Steps of some rows each, all through one matrix by matmul or linear, and the gradient worked out one by
/// one.
struct Steps {
  explicit Steps(const std::vector<int64_t>& rows_of_steps) {
    Generator generator(11);
    weight = Variable(rand_normal({4, 3}, 0, 1, DType::f64, generator), true);
    Tensor total = zeros({4, 3}, DType::f64);
    for (const int64_t rows : rows_of_steps) {
      x.push_back(rand_normal({rows, 4}, 0, 1, DType::f64, generator));
      factor.push_back(rand_normal({rows, 3}, 0, 1, DType::f64, generator));
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t j = 0; j < 3; ++j)
            total.set({i, j}, total.at({i, j}) + x.back().at({row, i}) * factor.back().at({row, j}));
    }
    wanted = total;
  }

  /// The sum of factor * (x weight) over all; every other step is a linear layer.
  Variable loss(const Variable& w) const {
    Variable sum_of_steps = zeros({}, DType::f64);
    const Variable turned = w.transpose(0, 1);  // once: the linear layers' products are to be gathered too
    for (size_t i = 0; i < x.size(); ++i) {
      const Variable y = i % 2 == 0 ? matmul(x[i], w) : linear(x[i], turned);
      sum_of_steps = sum_of_steps + sum(factor[i] * y);
    }
    return sum_of_steps;
  }

  Variable weight;
  std::vector<Tensor> x, factor;
  Tensor wanted;
};

const std::vector<std::vector<int64_t>> kPlans{
    {1},      {0},      {0, 0, 0},     {1, 2, 0, 3},
    {255, 1}, {256, 1}, {300, 2, 300}, {100, 100, 100, 100, 100, 100, 7, 90}};

TEST(gathering, many_products_of_one_matrix_add_up) {
  for (const auto& plan : kPlans) {
    const Steps steps(plan);
    steps.loss(steps.weight).backward();
    EXPECT_TRUE(close(steps.weight.grad().data(), steps.wanted, kF64)) << plan.size();
  }
}

TEST(gathering, products_and_other_gradients_add_up) {
  for (const auto& plan : kPlans)
    for (const bool first : {false, true}) {
      const Steps steps(plan);
      const Variable &w = steps.weight, other = sum(w * w);
      (first ? other + steps.loss(w) : steps.loss(w) + other).backward();
      EXPECT_TRUE(close(w.grad().data(), (w * 2 + Variable(steps.wanted)).data(), kF64)) << plan.size();
    }
}

TEST(gathering, a_matrix_that_was_computed_gets_the_whole_gradient) {
  const Steps steps(kPlans.back());
  const Variable leaf(steps.weight.data(), true), w = leaf * 3;
  const Variable loss = steps.loss(w);
  EXPECT_TRUE(close(grad({&loss, 1}, {&w, 1}, {}, {.retain_graph = true})[0].data(), steps.wanted, kF64));
  loss.backward();
  EXPECT_TRUE(close(leaf.grad().data(), (Variable(steps.wanted) * 3).data(), kF64));
}

TEST(gathering, who_looks_at_a_product_sees_it_multiplied) {
  const Steps steps({2, 3});
  const Variable y = matmul(steps.x[0], steps.weight);
  Tensor seen;
  const HookHandle hook = register_node_hook(
      y, {.after = [&](const Node&, std::span<Variable> grads) { seen = grads[1].data(); }});
  sum(steps.factor[0] * y).backward();
  EXPECT_TRUE(close(seen, kernels::matmul(steps.x[0].transpose(0, 1), steps.factor[0]), kF64));
  EXPECT_TRUE(close(steps.weight.grad().data(), seen, kExact));
}

TEST(gathering, a_product_that_is_not_finite_is_found_where_it_arises) {
  const AnomalyMode anomaly;
  const Steps steps({2});
  Tensor infinite = steps.factor[0].clone();
  infinite.set({1, 1}, INFINITY);
  const Variable y = matmul(steps.x[0], steps.weight);
  expect_error<AnomalyError>([&] { y.backward(infinite); }, "matmul");
}

TEST(gathering, a_gradient_of_a_gradient_goes_through_products) {
  const Steps steps({2, 3});
  const Variable& w = steps.weight;
  const Variable y = matmul(w.transpose(0, 1), w);  // w^T w, whose slope is 2 w for the sum of its diagonal
  const Variable trace = sum(y * Variable(tensor_of({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).to(DType::f64)));
  const Variable slope = grad({&trace, 1}, {&w, 1}, {}, {.create_graph = true})[0];
  EXPECT_TRUE(close(slope.data(), (w * 2).data(), kF64));
  const Variable squares = sum(slope * slope);
  EXPECT_TRUE(close(grad({&squares, 1}, {&w, 1})[0].data(), (w * 8).data(), kF64));
}

TEST(gathering, a_factor_that_is_edited_before_it_is_multiplied_is_an_error) {
  const Steps steps({2, 3});
  Variable early(zeros({2, 3}, DType::f64), true);  // recorded before the product, so its hook comes after
  Variable shifted = early * 1;
  const Variable y = matmul(steps.x[0], steps.weight) + shifted;
  const HookHandle hook = shifted.register_hook([&](const Variable& grad) -> Variable {
    Tensor numbers = grad.data();
    numbers.fill(0);
    return {};
  });
  expect_error<GraphError>(
      [&] { sum(y * 2).backward(); },
      "[backward] a factor of a gradient was edited in place before it was multiplied: f64(2, 3)");
  EXPECT_FALSE(steps.weight.grad().defined());
}

}  // namespace
}  // namespace heed::test
