#include <optional>

#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>
#include <heed/autograd/record.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/random.h>
#include <heed/tensor/storage.h>

#include "tests/ops/close.h"
#include "tests/ops/memory.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

/// A hook that only looks: the values it saw go to `seen`.
GradHook watch(std::vector<double>& seen) {
  return [&seen](const Variable& grad) {
    seen.push_back(grad.data().to_vector<double>().at(0));
    return Variable();
  };
}

TEST(case_C17, a_hook_runs_once_on_the_complete_gradient) {
  const Variable x(ones({2, 3}), true);
  Variable y = x + 1;
  std::vector<double> seen;
  const HookHandle handle = y.register_hook([&](const Variable& grad) -> Variable {
    for (const float value : grad.data().to_vector<float>()) EXPECT_EQ(value, 5);
    seen.push_back(grad.data().at({0, 0}));
    return full({2, 3}, std::min(4.0, seen.back()));
  });
  sum(2 * y + 3 * y).backward();
  EXPECT_EQ(seen, (std::vector<double>{5}));
  EXPECT_TRUE(close(x.grad().data(), full({2, 3}, 4), kExact));
}

TEST(case_C17, hooks_run_in_order_and_each_sees_what_the_last_one_made) {
  Variable x(ones({3}), true);
  std::vector<double> seen;
  const HookHandle first = x.register_hook([&](const Variable& grad) {
    seen.push_back(grad.data().at({0}));
    return grad * 2;
  });
  const HookHandle second = x.register_hook([&](const Variable& grad) {
    seen.push_back(grad.data().at({0}));
    return grad + 1;
  });
  sum(5 * x).backward();
  EXPECT_EQ(seen, (std::vector<double>{5, 10}));
  EXPECT_TRUE(close(x.grad().data(), {11, 11, 11}, kExact));
  sum(5 * x).backward();
  EXPECT_TRUE(close(x.grad().data(), {22, 22, 22}, kExact));
}

/// Runs make_one 20,000 times and expects no memory to stay.
template <class F>
void expect_no_leak(const F& make_one) {
  make_one();
  const int64_t before = memory_stats().current, resident = resident_bytes();
  for (int i = 0; i < 20000; ++i) make_one();
  EXPECT_EQ(memory_stats().current, before);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes() - resident, 10'000'000);
  }
}

TEST(case_C17, a_hook_that_holds_its_own_variable_does_not_keep_it_alive) {
  expect_no_leak([] {
    const Variable x(ones({1000}), true);
    Variable y = x * 2;
    const HookHandle handle = y.register_hook([y](const Variable&) { return y; });
  });
}

TEST(case_C17, a_node_that_reads_its_own_output_does_not_keep_it_alive) {
  expect_no_leak([] {
    const Variable x(ones({1000}), true);
    Tensor y = kernels::exp(x.data());
    record("exp_again", y, {&x}, [y = SavedOutput(y)](Backward& back) {
      back.give(0, [&] { return back.grad() * back.value(y); });
    });
  });
}

TEST(case_C17, a_retained_gradient_does_not_keep_its_graph_alive) {
  expect_no_leak([] {
    const Variable x(ones({1000}), true);
    Variable y = x.exp();
    y.retain_grad();
    sum(y * y).backward({.retain_graph = true});
  });
}

TEST(case_C17, a_running_total_of_numbers_or_constants_keeps_no_history) {
  const Variable x(ones({1000}), true);
  const int64_t before = memory_stats().current;
  double plain = 0;
  for (int i = 0; i < 10000; ++i) plain += sum(x * x).item();
  EXPECT_EQ(plain, 1e7);
  EXPECT_EQ(memory_stats().current, before);
  Variable total = scalar(0);
  for (int i = 0; i < 10000; ++i) total += sum(x * x).detach();
  EXPECT_EQ(total.item(), 1e7);
  EXPECT_LE(memory_stats().current - before, 64);  // the one number
}

TEST(case_C17, a_running_total_with_history_keeps_only_small_nodes) {
  const Variable x(ones({1000}), true);
  const int64_t before = memory_stats().current;
  Variable total = scalar(0);
  for (int i = 0; i < 10000; ++i) total += sum(x * x);
  EXPECT_LE(memory_stats().current - before, 64);  // no product and no sum but the last stays
  total.backward();
  EXPECT_EQ(x.grad().data().at({0}), 20000);
}

TEST(hooks, a_handle_that_dies_or_is_removed_takes_its_hook_along) {
  Variable x(ones({1}), true);
  std::vector<double> seen;
  {
    const HookHandle handle = x.register_hook(watch(seen));
    sum(x * 2).backward();
  }
  sum(x * 3).backward();
  HookHandle removed = x.register_hook(watch(seen));
  removed.remove();
  sum(x * 4).backward();
  EXPECT_EQ(seen, (std::vector<double>{2}));
}

TEST(hooks, a_handle_may_be_moved_and_may_outlive_the_graph) {
  std::vector<double> seen;
  HookHandle kept;
  {
    Variable x(ones({1}), true);
    kept = x.register_hook(watch(seen));
    sum(x * 2).backward();
  }
  kept.remove();
  EXPECT_EQ(seen, (std::vector<double>{2}));
}

TEST(hooks, a_hook_may_remove_itself_and_register_others) {
  Variable x(ones({1}), true);
  std::vector<double> seen;
  HookHandle self, later;
  self = x.register_hook([&](const Variable& grad) {
    seen.push_back(grad.item());
    self.remove();
    later = x.register_hook(watch(seen));
    return Variable();
  });
  sum(x * 2).backward();  // the new hook is for the next time
  sum(x * 3).backward();
  EXPECT_EQ(seen, (std::vector<double>{2, 3}));
}

TEST(hooks, a_hook_may_let_go_of_the_whole_graph) {
  const Variable x(ones({1}), true);
  Variable y = x.exp().log();
  Variable loss = sum(y * y);
  const HookHandle handle = y.register_hook([&](const Variable&) {
    loss = {};
    y = {};
    return Variable();
  });
  Variable{loss}.backward();
  EXPECT_NEAR(x.grad().item(), 2, 1e-6);
  EXPECT_FALSE(loss.defined());
}

TEST(hooks, the_root_itself_may_be_let_go_of) {
  const Variable x(ones({1}), true);
  std::optional<Variable> loss = sum(x.exp().log());
  const HookHandle handle = loss->register_hook([&](const Variable&) {
    loss.reset();
    return Variable();
  });
  loss->backward();
  EXPECT_NEAR(x.grad().item(), 1, 1e-6);
}

TEST(hooks, a_replacement_that_does_not_fit_is_an_error) {
  const Variable x(ones({2}), true);
  Variable y = x * 2;
  const HookHandle handle = y.register_hook([](const Variable&) { return Variable(ones({3})); });
  expect_error<ShapeError>([&] { sum(y).backward(); },
                           "[hook] on an output of scale: wanted f32(2,), came f32(3,)");
  Variable z = x * 2;
  const HookHandle other = z.register_hook([](const Variable&) { return Variable(ones({2}, DType::f64)); });
  expect_error<ShapeError>([&] { sum(z).backward(); }, "came f64(2,)");
  EXPECT_FALSE(x.grad().defined());
}

TEST(hooks, an_exception_comes_out_and_leaves_the_leaf_untouched) {
  const Variable x(ones({2}), true);
  Variable y = x * 2;
  HookHandle handle = y.register_hook([](const Variable&) -> Variable { throw std::runtime_error("mine"); });
  EXPECT_THROW(sum(y).backward(), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  handle.remove();
  sum(x * 2).backward();
  EXPECT_TRUE(close(x.grad().data(), {2, 2}, kExact));
}

TEST(hooks, grad_and_retained_gradients_see_what_hooks_made) {
  const Variable x(tensor_of({1, 2}), true);
  Variable y = x * 1;
  y.retain_grad();
  const HookHandle handle = y.register_hook([](const Variable& grad) { return grad * 10; });
  const Variable z = sum(y * y);
  EXPECT_TRUE(close(grad({&z, 1}, {&y, 1}, {}, {.retain_graph = true})[0].data(), {20, 40}, kExact));
  y.zero_grad();
  z.backward();
  EXPECT_TRUE(close(y.grad().data(), {20, 40}, kExact));
  EXPECT_TRUE(close(x.grad().data(), {20, 40}, kExact));
}

TEST(hooks, watching_changes_no_bit) {
  const auto run = [](bool watched) {
    const Variable x(rand_normal({64, 64}, 0, 1, DType::f32, *std::make_unique<Generator>(3)), true);
    Variable y = x.matmul(x).tanh();
    std::vector<double> seen;
    HookHandle handle;
    if (watched) handle = y.register_hook(watch(seen));
    sum(y * y + y).backward();
    return x.grad();
  };
  EXPECT_TRUE(close(run(true).data(), run(false).data(), kExact));
}

TEST(watch_grad, holds_the_gradient_of_the_last_pass) {
  const Variable x(tensor_of({1, 2, 3}), true);
  const Variable y = x * x;
  const auto of_x = watch_grad(x), of_y = watch_grad(y);
  EXPECT_FALSE(of_y->defined());
  (3 * y).sum().backward({.retain_graph = true});
  EXPECT_TRUE(close(*of_y, {3, 3, 3}, kExact));
  EXPECT_TRUE(close(*of_x, {6, 12, 18}, kExact));
  (y + y).sum().backward();
  EXPECT_TRUE(close(*of_y, {2, 2, 2}, kExact)) << "complete, and not added to that of the pass before";
  EXPECT_TRUE(close(*of_x, {4, 8, 12}, kExact));
  EXPECT_TRUE(close(x.grad().data(), {10, 20, 30}, kExact)) << "a leaf's gradients still add up";
  EXPECT_FALSE(y.grad().defined());
}

TEST(watch_grad, ends_with_the_pointer_and_outlives_the_graph) {
  std::shared_ptr<const Tensor> seen;
  {
    const Variable x(ones({2}), true);
    Variable y = x * 2;
    seen = watch_grad(y);
    int others = 0;
    const HookHandle hook = y.register_hook([&](const Variable&) { return ++others, Variable(); });
    auto dropped = watch_grad(y);
    const std::weak_ptr<const Tensor> gone = dropped;
    dropped.reset();
    EXPECT_TRUE(gone.expired());
    y.sum().backward();
    EXPECT_EQ(others, 1);
  }
  EXPECT_TRUE(close(*seen, {1, 1}, kExact));
}

TEST(watch_grad, of_a_value_without_a_gradient_stays_undefined) {
  const Variable x(ones({2}), true);
  const auto of_constant = watch_grad(ones({2})), of_unused = watch_grad(x * 2);
  x.sum().backward();
  EXPECT_FALSE(of_constant->defined());
  EXPECT_FALSE(of_unused->defined());
}

}  // namespace
}  // namespace heed::test
