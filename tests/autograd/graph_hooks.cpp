#include <gtest/gtest.h>

#include <stdexcept>

#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>
#include <heed/autograd/record.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

/// Hooks on nodes and edges, and what is left when one of them throws.
namespace heed::test {
namespace {

using Numbers = std::vector<double>;

Variable leaf(double value) { return Variable(scalar(value, DType::f64), true); }

/// Writes down the one number of each gradient; -1 for one that is undefined.
auto writes_to(Numbers& seen) {
  return [&seen](const Node&, std::span<Variable> grads) {
    for (const Variable& grad : grads) seen.push_back(grad.defined() ? grad.item() : -1);
  };
}

GradHook watch(Numbers& seen) {
  return [&seen](const Variable& grad) {
    seen.push_back(grad.item());
    return Variable();
  };
}

TEST(node_hook, sees_the_gradients_of_the_outputs_and_then_those_of_the_inputs) {
  const Variable x = leaf(3), w = leaf(5);
  const Variable y = x * w;
  Numbers before, after;
  const HookHandle handle = register_node_hook(
      y, {.before = writes_to(before), .after = [&](const Node& node, std::span<Variable> grads) {
            EXPECT_STREQ(node.name(), "mul");
            EXPECT_EQ(before.size(), 1) << "before comes first";
            writes_to(after)(node, grads);
          }});
  (y * 2).backward();
  EXPECT_EQ(before, Numbers{2});
  EXPECT_EQ(after, (Numbers{10, 6}));
}

TEST(node_hook, the_gradient_of_an_output_is_complete_when_it_is_seen) {
  const Variable x = leaf(3);
  const Variable y = x * x;
  Numbers seen;
  const HookHandle handle = register_node_hook(y, {.before = writes_to(seen)});
  (y * 2 + y * 5).backward();
  EXPECT_EQ(seen, Numbers{7});
}

TEST(node_hook, sees_all_outputs_also_those_that_nobody_used) {
  const Variable x(tensor_of({1, 2}, DType::f64), true);
  const int64_t sizes[] = {1, 1};
  const std::vector<Variable> parts = split(x, sizes, 0);
  std::vector<bool> defined;
  const HookHandle handle =
      register_node_hook(parts[0], {.before = [&](const Node&, std::span<Variable> grads) {
                           for (const Variable& grad : grads) defined.push_back(grad.defined());
                         }});
  sum(parts[1]).backward();
  EXPECT_EQ(defined, (std::vector<bool>{false, true}));
}

TEST(node_hook, replaces_gradients_on_either_side) {
  const Variable x = leaf(3), w = leaf(5);
  const Variable y = x * w;
  const HookHandle first = register_node_hook(
      y, {.before = [](const Node&, std::span<Variable> grads) { grads[0] = grads[0] * 10; }});
  const HookHandle second = register_node_hook(
      y, {.after = [](const Node&, std::span<Variable> grads) { grads[1] = grads[1] + 1; }});
  y.backward();
  EXPECT_EQ(x.grad().item(), 50);
  EXPECT_EQ(w.grad().item(), 31);
}

TEST(node_hook, an_undefined_gradient_stops_that_path) {
  const Variable x = leaf(3), w = leaf(5);
  const Variable y = x * w;
  const HookHandle handle =
      register_node_hook(y, {.after = [](const Node&, std::span<Variable> grads) { grads[0] = {}; }});
  y.backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(w.grad().item(), 3);
}

TEST(node_hook, a_replacement_must_fit) {
  for (const bool before : {true, false}) {
    const Variable x = leaf(3);
    const Variable y = x * 2;
    const auto spoil = [](const Node&, std::span<Variable> grads) { grads[0] = ones({3}, DType::f64); };
    NodeHook hook;
    (before ? hook.before : hook.after) = spoil;
    const HookHandle handle = register_node_hook(y, hook);
    expect_error<ShapeError>([&] { y.backward(); },
                             before ? "[hook] before the backward of scale: wanted f64(), came f64(3,)"
                                    : "[hook] after the backward of scale: wanted f64(), came f64(3,)");
    EXPECT_FALSE(x.grad().defined());
  }
}

TEST(edge_hook, sees_what_one_consumer_sends_before_it_is_added_up) {
  const Variable x = leaf(3);
  const Variable y = x * 1, left = y * 2, right = y * 5;
  Numbers of_left, of_right, total;
  Variable watched = y;
  const HookHandle handles[] = {register_edge_hook(left, 0, watch(of_left)),
                                register_edge_hook(right, 0, watch(of_right)),
                                watched.register_hook(watch(total))};
  (left + right).backward();
  EXPECT_EQ(of_left, Numbers{2});
  EXPECT_EQ(of_right, Numbers{5});
  EXPECT_EQ(total, Numbers{7});
  EXPECT_EQ(x.grad().item(), 7);
}

TEST(edge_hook, tells_two_inputs_apart_that_are_one_variable) {
  const Variable x = leaf(3);
  const Variable y = x / x;
  Numbers above, below;
  const HookHandle handles[] = {register_edge_hook(y, 0, watch(above)),
                                register_edge_hook(y, 1, watch(below))};
  y.backward();
  EXPECT_NEAR(above.at(0), 1.0 / 3, 1e-15);
  EXPECT_NEAR(below.at(0), -1.0 / 3, 1e-15);
  EXPECT_EQ(x.grad().item(), 0);
}

TEST(edge_hook, hooks_of_one_edge_run_in_order_and_may_replace) {
  const Variable x = leaf(3);
  const Variable y = x * 2, z = y + x;
  Numbers seen;
  const HookHandle first = register_edge_hook(z, 1, [](const Variable& grad) { return grad * 10; });
  const HookHandle second = register_edge_hook(z, 1, watch(seen));
  z.backward();
  EXPECT_EQ(seen, Numbers{10});
  EXPECT_EQ(x.grad().item(), 12) << "the other path is as it was";
}

TEST(edge_hook, comes_after_the_hooks_of_the_node) {
  const Variable x = leaf(3);
  const Variable y = x * 2;
  Numbers seen;
  const HookHandle edge = register_edge_hook(y, 0, watch(seen));
  const HookHandle node = register_node_hook(
      y, {.after = [](const Node&, std::span<Variable> grads) { grads[0] = grads[0] + 1; }});
  y.backward();
  EXPECT_EQ(seen, Numbers{3});
}

TEST(edge_hook, a_replacement_must_fit) {
  const Variable x(ones({2}), true);
  const Variable y = x * 2;
  const HookHandle handle = register_edge_hook(y, 0, [](const Variable&) { return Variable(ones({3})); });
  expect_error<ShapeError>([&] { sum(y).backward(); },
                           "[hook] on an input of scale: wanted f32(2,), came f32(3,)");
  EXPECT_FALSE(x.grad().defined());
}

TEST(edge_hook, runs_for_grad_only_where_the_walk_goes) {
  const Variable x = leaf(3), w = leaf(5);
  const Variable y = x * w;
  Numbers of_x, of_w;
  const HookHandle handles[] = {register_edge_hook(y, 0, watch(of_x)), register_edge_hook(y, 1, watch(of_w))};
  EXPECT_EQ(grad({&y, 1}, {&w, 1})[0].item(), 3);
  EXPECT_EQ(of_x, Numbers{});
  EXPECT_EQ(of_w, Numbers{3});
}

TEST(edge_hook, second_derivatives_pass_through_what_it_returns) {
  const Variable x = leaf(3);
  const Variable y = x.pow(2);
  const HookHandle handle = register_edge_hook(y, 0, [](const Variable& grad) { return grad * grad; });
  const Variable slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  EXPECT_EQ(slope.item(), 36);  // (2x)^2
  EXPECT_EQ(grad({&slope, 1}, {&x, 1})[0].item(), 24);
}

TEST(graph_hooks, a_handle_that_dies_takes_its_hook_along) {
  const Variable x = leaf(3);
  const Variable y = x * 2;
  Numbers seen;
  {
    const HookHandle edge = register_edge_hook(y, 0, watch(seen));
    const HookHandle node = register_node_hook(y, {.before = writes_to(seen)});
    y.backward({.retain_graph = true});
  }
  y.backward();
  EXPECT_EQ(seen, (Numbers{1, 2}));
}

TEST(graph_hooks, a_hook_that_holds_its_own_variable_ends_with_its_handle) {
  const int64_t before = memory_stats().current;
  std::weak_ptr<Node> node;
  {
    const Variable x(ones({1000}), true);
    const Variable y = x * 2;
    node = y.producer().node;
    const HookHandle edge = register_edge_hook(y, 0, [y](const Variable&) { return y; });
    const HookHandle both = register_node_hook(y, {.before = [y](const Node&, std::span<Variable>) {}});
  }
  EXPECT_TRUE(node.expired());
  EXPECT_EQ(memory_stats().current, before);
}

TEST(graph_hooks, wrong_places_are_named) {
  const Variable x = leaf(3), constant = scalar(1, DType::f64);
  const Variable y = x * constant;
  const GradHook nothing = [](const Variable&) { return Variable(); };
  expect_error<GraphError>([&] { (void)register_node_hook(x, {}); },
                           "[register_node_hook] wanted the result of a recorded op, came a leaf f64()");
  expect_error<GraphError>([&] { (void)register_edge_hook(constant, 0, nothing); }, "came a constant f64()");
  expect_error<GraphError>([&] { (void)register_edge_hook(y, 2, nothing); },
                           "[register_edge_hook] mul has 2 inputs, came 2");
  expect_error<GraphError>([&] { (void)register_edge_hook(y, 1, nothing); },
                           "[register_edge_hook] input 1 of mul needs no gradient");
  expect_error<ValueError>([&] { (void)register_edge_hook(Variable(), 0, nothing); }, "undefined");
}

TEST(graph_hooks, watching_changes_no_bit) {
  const auto run = [](bool watched) {
    Generator generator(3);
    const Variable x(rand_normal({32, 32}, 0, 1, DType::f32, generator), true);
    const Variable y = x.matmul(x), z = y.tanh() + y;
    std::vector<HookHandle> handles;
    const GradHook nothing = [](const Variable&) { return Variable(); };
    if (watched) {
      for (size_t i = 0; i < 2; ++i) handles.push_back(register_edge_hook(z, i, nothing));
      for (size_t i = 0; i < 2; ++i) handles.push_back(register_edge_hook(y, i, nothing));
      handles.push_back(register_node_hook(y, {.before = [](const Node&, std::span<Variable>) {},
                                               .after = [](const Node&, std::span<Variable>) {}}));
    }
    sum(z * z).backward();
    return x.grad();
  };
  EXPECT_TRUE(close(run(true).data(), run(false).data(), kExact));
}

/// x (made first), then y = 2x, late leaf w, z = y w: the walk reaches w before it reaches x.
struct TwoLeaves {
  Variable x = leaf(3), y = x * 2, w = leaf(5), z = y * w;
};

TEST(exception, from_any_hook_leaves_every_gradient_as_it_was) {
  const auto fail = [](const auto&...) -> Variable { throw std::runtime_error("mine"); };
  using Hang = std::function<HookHandle(TwoLeaves&)>;
  const std::vector<Hang> places = {
      [&](TwoLeaves& g) { return g.x.register_hook(fail); },
      [&](TwoLeaves& g) { return g.y.register_hook(fail); },
      [&](TwoLeaves& g) { return register_edge_hook(g.y, 0, fail); },
      [&](TwoLeaves& g) { return register_node_hook(g.y, {.before = fail}); },
      [&](TwoLeaves& g) { return register_node_hook(g.y, {.after = fail}); },
  };
  for (const Hang& hang : places) {
    TwoLeaves graph;
    graph.y.retain_grad();
    graph.z.backward({.retain_graph = true});
    {
      const HookHandle handle = hang(graph);
      EXPECT_THROW(graph.z.backward({.retain_graph = true}), std::runtime_error);
    }
    EXPECT_EQ(graph.x.grad().item(), 10);
    EXPECT_EQ(graph.w.grad().item(), 6) << "it had its gradient already when the hook threw";
    EXPECT_EQ(graph.y.grad().item(), 5);
    graph.z.backward();  // the graph was kept, so it can be gone through again
    EXPECT_EQ(graph.x.grad().item(), 20);
    EXPECT_EQ(graph.w.grad().item(), 12);
  }
}

TEST(exception, without_retain_graph_what_was_walked_is_spent) {
  TwoLeaves graph;
  {
    const HookHandle handle =
        graph.y.register_hook([](const Variable&) -> Variable { throw std::runtime_error("mine"); });
    EXPECT_THROW(graph.z.backward(), std::runtime_error);
  }
  EXPECT_FALSE(graph.w.grad().defined());
  expect_error<GraphError>([&] { graph.z.backward(); }, "[backward of mul] its graph was freed");
}

TEST(exception, gives_all_memory_back) {
  const int64_t before = memory_stats().current;
  {
    const Variable x(ones({1000}), true);
    Variable y = x.exp().log();
    const HookHandle handle =
        y.register_hook([](const Variable&) -> Variable { throw std::runtime_error("mine"); });
    EXPECT_THROW(sum(y * y).backward(), std::runtime_error);
    y = {};
    EXPECT_FALSE(x.grad().defined());
  }
  EXPECT_EQ(memory_stats().current, before);
}

}  // namespace
}  // namespace heed::test
