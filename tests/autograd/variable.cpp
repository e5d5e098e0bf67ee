#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

template <class T>
concept Addable = requires(const T& a, const T& b) {
  a + b;
};
static_assert(Addable<Variable>);
static_assert(!Addable<Tensor>, "arithmetic on plain tensors is left to the kernels");
static_assert(std::is_convertible_v<Tensor, Variable>);
static_assert(!std::is_convertible_v<Variable, Tensor>);

TEST(variable, a_tensor_becomes_a_constant) {
  const Variable constant = ones({2, 3});
  EXPECT_TRUE(constant.defined());
  EXPECT_TRUE(constant.is_leaf());
  EXPECT_FALSE(constant.requires_grad());
  EXPECT_FALSE(constant.grad().defined());
  EXPECT_EQ(constant.producer().node, nullptr);
}

TEST(variable, the_result_of_an_operation_is_no_leaf) {
  const Variable x(ones({2}), true);
  const Variable y = x * 2;
  EXPECT_TRUE(x.is_leaf());
  EXPECT_TRUE(x.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_TRUE(y.requires_grad());
  Variable result = y;
  expect_error<GraphError>([&] { result.set_requires_grad(false); },
                           "[requires_grad] only a leaf can be set, came a result of scale");
}

TEST(variable, only_floats_can_require_a_gradient) {
  expect_error<DTypeError>([] { return Variable(zeros({2}, DType::i64), true); },
                           "[requires_grad] only floats have gradients, came i64(2,)");
  expect_error<DTypeError>([] { return Variable(zeros({2}, DType::boolean), true); }, "bool(2,)");
  EXPECT_TRUE(Variable(zeros({2}, DType::bf16), true).requires_grad());
}

TEST(variable, a_leaf_can_be_switched_on_and_off) {
  Variable x = ones({2});
  x.set_requires_grad(true);
  sum(x * 3).backward();
  EXPECT_TRUE(close(x.grad().data(), {3, 3}, kExact));
  x.set_requires_grad(false);
  EXPECT_FALSE((x * 3).requires_grad());
}

TEST(variable, nothing_can_be_asked_of_an_undefined_one) {
  const Variable none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.requires_grad());
  expect_error<ValueError>([&] { return none.data(); },
                           "[variable] wanted a variable, came an undefined one");
  expect_error<ValueError>([&] { return none + none; },
                           "[variable] wanted a variable, came an undefined one");
  expect_error<ValueError>([] { return Variable(Tensor()); },
                           "[variable] wanted a tensor, came an undefined one");
}

TEST(variable, copies_are_handles_on_one_variable) {
  const Variable x(ones({2}), true);
  const Variable copy = x;
  sum(copy).backward();
  EXPECT_TRUE(copy.is_same(x));
  EXPECT_TRUE(x.grad().is_same(copy.grad()));
}

TEST(variable, a_detached_one_is_a_constant_over_the_same_numbers) {
  const Variable x(tensor_of({2}), true);
  const Variable y = x * x, cut = y.detach();
  EXPECT_TRUE(cut.data().shares_memory(y.data()));
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_TRUE(cut.is_leaf());
  sum(cut * x).backward();
  EXPECT_EQ(x.grad().item(), 4);  // and not 12, as if x * x were differentiated too
}

TEST(variable, tensors_and_numbers_join_in_as_constants) {
  const Variable x(tensor_of({1, 2}), true);
  const Tensor t = tensor_of({3, 4});
  sum(x * t + t * x + 2 * x).backward();
  EXPECT_TRUE(close(x.grad().data(), {8, 10}, kExact));
}

TEST(variable, compound_assignment_rebinds_and_edits_no_memory) {
  const Variable x(tensor_of({1, 2}), true);
  Variable y = x;
  y += x;
  y *= x;
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(close(x.data(), {1, 2}, kExact));
  EXPECT_TRUE(close(y.data(), {2, 8}, kExact));
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), {4, 8}, kExact));  // d(2 x^2)
}

TEST(variable, a_gradient_that_does_not_fit_is_refused) {
  Variable x(ones({2, 3}), true);
  expect_error<ShapeError>([&] { x.set_grad(ones({3, 2})); }, "[set_grad] wanted f32(2, 3), came f32(3, 2)");
  expect_error<ShapeError>(
      [&] {
        x.set_grad(ones({2, 3}, DType::f64));
      },
      "[set_grad] wanted f32(2, 3), came f64(2, 3)");
  x.set_grad(full({2, 3}, 5));
  EXPECT_EQ(x.grad().data().at({1, 2}), 5);
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(variable, a_gradient_that_was_set_is_added_to_and_never_edited) {
  Variable x(ones({2}), true);
  const Tensor mine = tensor_of({10, 20});
  x.set_grad(mine);
  sum(x * 3).backward();
  EXPECT_TRUE(close(x.grad().data(), {13, 23}, kExact));
  EXPECT_TRUE(close(mine, {10, 20}, kExact));
}

TEST(variable, results_keep_their_gradient_on_request) {
  const Variable x(tensor_of({2, 3}), true);
  Variable kept = x * x, other = x * 2;
  kept.retain_grad();
  sum(kept * other).backward({.retain_graph = true});
  EXPECT_TRUE(close(kept.grad().data(), {4, 6}, kExact));
  EXPECT_FALSE(other.grad().defined());
  sum(kept).backward();
  EXPECT_TRUE(close(kept.grad().data(), {5, 7}, kExact));
  kept.zero_grad();
  EXPECT_FALSE(kept.grad().defined());
}

TEST(variable, a_leaf_keeps_its_gradient_anyway) {
  Variable x(full({1024}, 2), true);
  x.retain_grad();
  const int64_t before = memory_stats().current;
  sum(x * x).backward();
  EXPECT_TRUE(close(x.grad().data(), full({1024}, 4), kExact));
  EXPECT_EQ(memory_stats().current - before, 4096) << "kept once, and not a second time";
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(variable, constants_have_no_gradient_to_retain_or_to_watch) {
  Variable constant = ones({2});
  expect_error<GraphError>([&] { constant.retain_grad(); },
                           "[retain_grad] this variable needs no gradient: f32(2,)");
  expect_error<GraphError>([&] { return constant.register_hook([](const Variable&) { return Variable(); }); },
                           "[register_hook] this variable needs no gradient: f32(2,)");
}

TEST(variable, methods_and_free_functions_are_the_same) {
  const Tensor t = tensor_of({{1, 2}, {3, 4}}, DType::f64);
  const Variable x = t;
  const std::pair<Variable, Variable> pairs[] = {
      {x.matmul(x), matmul(x, x)},
      {x.pow(2), pow(x, 2)},
      {x.exp(), exp(x)},
      {x.log(), log(x)},
      {x.sqrt(), sqrt(x)},
      {x.tanh(), tanh(x)},
      {x.sigmoid(), sigmoid(x)},
      {x.relu(), relu(x)},
      {x.sum({0}), sum(x, {0})},
      {x.mean({1}, true), mean(x, {1}, true)},
      {x.softmax(0), softmax(x, 0)},
      {x.reshape({4}), reshape(x, {4})},
      {x.transpose(0, 1), transpose(x, 0, 1)},
      {x.permute({1, 0}), transpose(x, 0, 1)},
      {x.expand({3, 2, 2}), expand(x, {3, 2, 2})},
      {x.slice(1, 0, 1), slice(x, 1, 0, 1)},
      {x.select(0, 1), select(x, 0, 1)},
      {x.unsqueeze(0), unsqueeze(x, 0)},
      {x.unsqueeze(0).squeeze(0), x},
      {x.to(DType::f32), cast(x, DType::f32)},
      {-x, x * -1},
  };
  for (const auto& [method, function] : pairs) {
    EXPECT_TRUE(close(method.data(), function.data(), kExact));
    EXPECT_EQ(method.dtype(), function.dtype());
  }
}

}  // namespace
}  // namespace heed::test
