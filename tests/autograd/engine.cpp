#include <functional>

#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>
#include <heed/autograd/record.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

using Variables = std::vector<Variable>;

Variable leaf(double value) { return Variable(scalar(value, DType::f64), true); }

/// dy/dx, itself differentiable.
Variable slope(const Variable& y, const Variable& x) {
  return grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
}

TEST(case_C11, a_sum_of_a_value_with_itself) {
  const Variable a = leaf(1);
  const Variable b = a + a, c = b + b;
  EXPECT_EQ(c.item(), 4);
  c.backward();
  EXPECT_EQ(a.grad().item(), 4);
}

TEST(case_C11, a_value_used_in_several_places) {
  const Variable x = leaf(3);
  const Variable y = x * x, z = y * y + y;
  EXPECT_EQ(z.item(), 90);
  z.backward();
  EXPECT_EQ(x.grad().item(), 114);
}

TEST(engine, gradients_add_up_over_backward_calls) {
  const Variable x = leaf(2);
  for (const double expected : {4.0, 8.0, 12.0}) {
    (x * x).backward();
    EXPECT_EQ(x.grad().item(), expected);
  }
}

TEST(engine, a_handle_on_an_earlier_gradient_sees_no_later_one) {
  const Variable x = leaf(2);
  (x * x).backward();
  const Variable first = x.grad();
  (x * x).backward();
  EXPECT_EQ(first.item(), 4);
  EXPECT_EQ(x.grad().item(), 8);
}

TEST(engine, an_upstream_gradient_is_never_edited) {
  for (const bool create_graph : {false, true}) {
    Variable x(ones({2}), true);
    const Variable upstream = tensor_of({3, 4});
    const Variable y = x + 1;  // passes the upstream gradient on as it is
    y.backward(upstream, {.retain_graph = true, .create_graph = create_graph});
    y.backward(upstream);
    EXPECT_TRUE(close(upstream.data(), {3, 4}, kExact));
    EXPECT_TRUE(close(x.grad().data(), {6, 8}, kExact));
    x.zero_grad();
  }
}

TEST(engine, two_leaves_never_share_their_gradients) {
  const Variable a(ones({2}), true), b(ones({2}), true);
  sum(a + b).backward();
  sum(a).backward();
  EXPECT_TRUE(close(a.grad().data(), {2, 2}, kExact));
  EXPECT_TRUE(close(b.grad().data(), {1, 1}, kExact));
}

TEST(engine, a_graph_serves_once_unless_it_is_kept) {
  const Variable x = leaf(2);
  const Variable kept = x * x;
  kept.backward({.retain_graph = true});
  kept.backward();
  EXPECT_EQ(x.grad().item(), 8);
  expect_error<GraphError>(
      [&] { kept.backward(); },
      "[backward of mul] its graph was freed by an earlier backward: pass retain_graph to keep it");
  EXPECT_EQ(x.grad().item(), 8);
}

TEST(engine, a_graph_with_a_graph_of_its_gradients_is_kept) {
  const Variable x = leaf(2);
  const Variable y = x * x * x;
  EXPECT_EQ(slope(y, x).item(), 12);
  EXPECT_EQ(slope(y, x).item(), 12);
}

TEST(engine, backward_wants_one_number_or_an_upstream_gradient) {
  const Variable x(ones({2, 3}), true);
  expect_error<GraphError>([&] { (x * 2).backward(); },
                           "[backward] wanted a single number or an upstream gradient, came f32(2, 3)");
  const Variable one(ones({1, 1}), true);
  (one * 2).backward();
  EXPECT_TRUE(close(one.grad().data(), full({1, 1}, 2), kExact));
}

TEST(engine, backward_wants_something_that_needs_a_gradient) {
  const Variable constant = scalar(1);
  expect_error<GraphError>([&] { constant.backward(); }, "[backward] nothing here needs a gradient: f32()");
}

TEST(engine, an_upstream_gradient_that_does_not_fit_is_refused) {
  const Variable x(ones({2, 3}), true);
  const Variable y = x * 2;
  expect_error<ShapeError>(
      [&] {
        y.backward(ones({3, 2}));
      },
      "[backward] wanted an upstream gradient f32(2, 3), came f32(3, 2)");
  expect_error<ShapeError>([&] { y.backward(ones({2, 3}, DType::f64)); }, "came f64(2, 3)");
  expect_error<ShapeError>([&] { y.backward(scalar(1)); }, "came f32()");
}

TEST(engine, a_leaf_is_its_own_derivative) {
  const Variable x(ones({2}), true);
  x.backward(tensor_of({3, 4}));
  EXPECT_TRUE(close(x.grad().data(), {3, 4}, kExact));
}

TEST(engine, third_derivatives_are_those_of_the_formula) {
  const Variable x = leaf(0.5);
  const Variable quintic = x.pow(5), waves = tanh(x * 2), curve = exp(x * x);
  const Variable q1 = slope(quintic, x), q2 = slope(q1, x), q3 = slope(q2, x);
  EXPECT_NEAR(q1.item(), 5 * std::pow(0.5, 4), 1e-12);
  EXPECT_NEAR(q2.item(), 20 * std::pow(0.5, 3), 1e-12);
  EXPECT_NEAR(q3.item(), 60 * std::pow(0.5, 2), 1e-12);
  const double t = std::tanh(1.0), s = 1 - t * t;
  const Variable w1 = slope(waves, x), w2 = slope(w1, x), w3 = slope(w2, x);
  EXPECT_NEAR(w1.item(), 2 * s, 1e-12);
  EXPECT_NEAR(w2.item(), -8 * t * s, 1e-12);
  EXPECT_NEAR(w3.item(), 8 * (-2 * s * s + 4 * t * t * s), 1e-12);
  const double e = std::exp(0.25);  // exp(x^2), with derivatives 2x e, (2 + 4x^2) e, (12x + 8x^3) e
  const Variable c1 = slope(curve, x), c2 = slope(c1, x), c3 = slope(c2, x);
  EXPECT_NEAR(c1.item(), e, 1e-12);
  EXPECT_NEAR(c2.item(), 3 * e, 1e-12);
  EXPECT_NEAR(c3.item(), 7 * e, 1e-12);
}

TEST(engine, mixed_second_derivatives_are_symmetric) {
  const Variable x = leaf(2), y = leaf(3);
  const Variable f = x * x * y * y * y;
  EXPECT_EQ(slope(slope(f, x), y).item(), 6 * 2 * 9);
  EXPECT_EQ(slope(slope(f, y), x).item(), 6 * 2 * 9);
}

TEST(engine, backward_can_build_a_graph_into_grad) {
  Variable x = leaf(3);
  x.pow(3).backward({.create_graph = true});
  const Variable first = x.grad();
  EXPECT_EQ(first.item(), 27);
  EXPECT_EQ(slope(first, x).item(), 18);
  first.backward();  // adds the second derivative, out of place: `first` is part of the graph
  EXPECT_EQ(x.grad().item(), 27 + 18);
  EXPECT_EQ(first.item(), 27);
  x.zero_grad();  // or x would hold the graph that holds x
}

TEST(engine, without_create_graph_gradients_are_constants) {
  const Variable x = leaf(3);
  const Variable y = x * x;
  EXPECT_FALSE(grad({&y, 1}, {&x, 1})[0].requires_grad());
}

TEST(grad_function, touches_no_grad_of_any_leaf) {
  const Variable x = leaf(2), y = leaf(5);
  const Variable z = x * y;
  const Variables wanted{x, y};
  const Variables grads = grad({&z, 1}, wanted);
  EXPECT_EQ(grads[0].item(), 5);
  EXPECT_EQ(grads[1].item(), 2);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(y.grad().defined());
}

TEST(grad_function, an_input_that_nothing_depends_on_is_an_error_or_undefined) {
  const Variable x = leaf(2), other = leaf(1);
  const Variable y = x * x;
  const Variables wanted{x, other};
  expect_error<GraphError>(
      [&] {
        grad({&y, 1}, wanted, {}, {.retain_graph = true});
      },
      "[grad] no output depends on input 1: f64()");
  const Variables grads = grad({&y, 1}, wanted, {}, {.allow_unused = true});
  EXPECT_EQ(grads[0].item(), 4);
  EXPECT_FALSE(grads[1].defined());
}

TEST(grad_function, inputs_may_lie_upstream_of_each_other_and_come_twice) {
  const Variable x = leaf(2);
  const Variable y = x * x, z = y * y + x;
  const Variables wanted{x, y, x};
  const Variables grads = grad({&z, 1}, wanted);
  EXPECT_EQ(grads[0].item(), 8 * 4 + 1);  // z = x^4 + x
  EXPECT_EQ(grads[1].item(), 8);
  EXPECT_EQ(grads[2].item(), 33);
}

TEST(grad_function, several_outputs_are_weighted_by_their_upstreams) {
  const Variable x = leaf(2);
  const Variables outputs{x * x, x * 3}, weights{scalar(10, DType::f64), Variable()};
  EXPECT_EQ(grad(outputs, {&x, 1}, weights)[0].item(), 40 + 3);
}

TEST(grad_function, goes_no_further_than_its_inputs) {
  const Variable x = leaf(2);
  const Variable y = x * x, z = y * 3;
  EXPECT_EQ(grad({&z, 1}, {&y, 1})[0].item(), 3);
  y.backward();  // the node of y was not run, so its saved values are still there
  EXPECT_EQ(x.grad().item(), 4);
}

TEST(grad_function, an_input_that_is_the_output_has_the_upstream_as_gradient) {
  const Variable x = leaf(2);
  const Variable y = x * x;
  EXPECT_EQ(grad({&y, 1}, {&y, 1})[0].item(), 1);
}

TEST(grad_function, wrong_calls_are_named) {
  const Variable x(ones({2}), true), constant = ones({2});
  const Variable y = x * 2;
  const Variables two{scalar(1), scalar(1)};
  expect_error<GraphError>(
      [&] {
        grad({&y, 1}, {&x, 1});
      },
      "[grad] output 0 is no single number and has no upstream gradient: f32(2,)");
  expect_error<GraphError>(
      [&] {
        grad({&y, 1}, {&constant, 1});
      },
      "[grad] input 0 needs no gradient: f32(2,)");
  expect_error<GraphError>(
      [&] {
        grad({&y, 1}, {&x, 1}, two);
      },
      "[grad] wanted 1 upstream gradients, one per output, came 2");
}

TEST(engine, outputs_that_nobody_used_have_the_gradient_zero) {
  const Variable x(tensor_of({1, 2, 3}), true);
  const int64_t sizes[] = {1, 2};
  const Variables parts = split(x, sizes, 0);
  sum(parts[1] * 5).backward();
  EXPECT_TRUE(close(x.grad().data(), {0, 5, 5}, kExact));
}

TEST(engine, all_outputs_of_one_node_are_gathered_before_it_runs) {
  const Variable x(tensor_of({1, 2, 3}), true);
  const Variables parts = unstack(x * x, 0);
  (parts[0] * 2 + parts[1] * parts[2] + parts[0]).backward();
  EXPECT_TRUE(close(x.grad().data(), {6, 36, 24}, kExact));  // 3x0^2 + x1^2 x2^2
}

TEST(engine, a_broadcast_input_gets_a_gradient_of_its_own_shape) {
  const Variable row(ones({1, 3}), true), column(ones({2, 1}), true), number(scalar(1), true);
  sum(row * column * number).backward();
  EXPECT_TRUE(close(row.grad().data(), full({1, 3}, 2), kExact));
  EXPECT_TRUE(close(column.grad().data(), full({2, 1}, 3), kExact));
  EXPECT_EQ(number.grad().item(), 6);
}

/// x, with whatever `backward` makes of the gradient.
Variable passed_on(const Variable& x, const std::function<Variable(const Variable&)>& backward) {
  return record("passed_on", x.data().clone(), {&x},
                [backward](Backward& back) { back.give(0, [&] { return backward(back.grad()); }); });
}

TEST(engine, a_gradient_of_the_wrong_shape_names_the_op_and_the_input) {
  const Variable x(ones({2, 3}), true);
  expect_error<ShapeError>(
      [&] { sum(passed_on(x, [](const Variable&) { return Variable(ones({3})); })).backward(); },
      "[backward of passed_on] wanted f32(2, 3) as the gradient of input 0, came f32(3,)");
  expect_error<ShapeError>(
      [&] { sum(passed_on(x, [](const Variable& g) { return g.to(DType::f64); })).backward(); },
      "came f64(2, 3)");
  EXPECT_FALSE(x.grad().defined());
}

TEST(engine, an_op_may_have_no_gradient_to_give) {
  const Variable x(ones({2}), true);
  sum(passed_on(x, [](const Variable&) { return Variable(); }) + x * 3).backward();
  EXPECT_TRUE(close(x.grad().data(), {3, 3}, kExact));
}

TEST(grad_mode, nothing_is_recorded_under_no_grad) {
  const Variable x = leaf(2);
  {
    const NoGrad guard;
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE((x * x).requires_grad());
    {
      const EnableGrad again;
      EXPECT_TRUE((x * x).requires_grad());
    }
    EXPECT_FALSE(grad_enabled());
  }
  EXPECT_TRUE((x * x).requires_grad());
}

TEST(grad_mode, backward_works_under_no_grad) {
  const Variable x = leaf(2);
  const Variable y = x * x;
  const NoGrad guard;
  y.backward();
  EXPECT_EQ(x.grad().item(), 4);
  EXPECT_FALSE(grad_enabled());
}

}  // namespace
}  // namespace heed::test
