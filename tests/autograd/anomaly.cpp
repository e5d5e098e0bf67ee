#include <heed/autograd/anomaly.h>

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include <heed/autograd/function.h>
#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {

/// A function that a backtrace can show: it has a name outside of this file, is not made a part of its
/// caller, and is not over when it calls sqrt.
[[gnu::noinline]] Variable unlucky_root(const Variable& x) { return sqrt(x) * 1; }

namespace {

Variable leaf(const Tensor& values) { return Variable(values, true); }

AnomalyError anomaly_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const AnomalyError& error) {
    return error;
  }
  ADD_FAILURE() << "no anomaly was found";
  return AnomalyError("none", "", "", {});
}

bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != line.npos; });
}

TEST(anomaly, nothing_is_looked_for_while_it_is_off) {
  EXPECT_FALSE(anomaly_enabled());
  const Variable x = leaf(tensor_of({-1, 4}));
  const Variable y = sqrt(x);
  EXPECT_TRUE(std::isnan(y.data().at({0})));
  sum(y).backward();
  EXPECT_TRUE(std::isnan(x.grad().data().at({0})));
}

TEST(anomaly, names_the_op_the_place_the_scope_and_the_calls_of_a_result) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({{4, 1}, {9, -1}}));
  const AnomalyError error = anomaly_of([&] {
    const Scope scope("decoder.0");
    const Variable fine = unlucky_root(x * x);
    unlucky_root(x);
  });
  EXPECT_EQ(error.op(), "sqrt");
  EXPECT_EQ(error.scope(), "decoder.0");
  EXPECT_TRUE(mentions(error.backtrace(), "heed::test::unlucky_root(heed::Variable const&)"));
  const std::string message = error.what();
  EXPECT_TRUE(
      message.starts_with("[anomaly] sqrt in decoder.0 made NaN at (1, 1) of output 0 f32(2, 2); called by "))
      << message;
  EXPECT_NE(message.find("unlucky_root"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(anomaly, names_the_op_whose_gradient_is_not_finite) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({4, 0}, DType::f64));
  Variable y;
  {
    const Scope scope("norm");
    y = unlucky_root(x);
  }
  const Variable loss = sum(y * 3);
  const AnomalyError error = anomaly_of([&] { loss.backward(); });
  EXPECT_EQ(error.op(), "sqrt");
  EXPECT_EQ(error.scope(), "norm");
  EXPECT_TRUE(mentions(error.backtrace(), "unlucky_root")) << "the call that recorded it";
  EXPECT_TRUE(
      std::string(error.what())
          .starts_with("[anomaly] backward of sqrt in norm found inf at (1,) of the gradient of input 0 "
                       "f64(2,); called by "))
      << error.what();
  EXPECT_FALSE(x.grad().defined());
}

TEST(anomaly, tells_which_input_passed_a_nan_on) {
  const AnomalyMode guard;
  const Tensor bad = tensor_of({1, NAN});
  const AnomalyError error = anomaly_of([&] { add(tensor_of({1, 1}), bad); });
  EXPECT_NE(
      std::string(error.what()).find("add made NaN at (1,) of output 0 f32(2,), passing it on from input 1"),
      std::string::npos)
      << error.what();
}

TEST(anomaly, finds_overflow_in_every_float_type) {
  const AnomalyMode guard;
  const Tensor large = full({2}, 1e30), larger = full({2}, 1e300, DType::f64), largest = full({2}, 3.4e38);
  EXPECT_EQ(anomaly_of([&] { mul(large, large); }).op(), "mul");
  EXPECT_EQ(anomaly_of([&] { mul(larger, larger); }).op(), "mul");
  EXPECT_EQ(anomaly_of([&] { cast(largest, DType::bf16); }).op(), "cast");
}

TEST(anomaly, infinities_that_were_asked_for_are_none) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({{1, 2}, {3, 4}}));
  const Tensor hide = tensor_of({{0, 1}, {1, 1}}, DType::boolean);
  const Variable scores = masked_fill(x, hide, -INFINITY);
  const Variable weights = softmax(scores, -1);
  sum(weights * weights).backward();
  EXPECT_TRUE(close(weights.data(), {1, 0, 0, 0}, kExact));
  EXPECT_TRUE(close(x.grad().data(), {0, 0, 0, 0}, kExact));
}

TEST(anomaly, an_infinity_from_finite_numbers_is_one_unless_it_is_allowed) {
  const AnomalyMode guard;
  const Tensor zero = tensor_of({0});
  EXPECT_EQ(anomaly_of([&] { log(zero); }).op(), "log");
  const AllowInfinity allowed;
  const Variable infinite = log(zero);
  EXPECT_EQ(infinite.item(), -INFINITY);
  EXPECT_EQ(anomaly_of([&] { infinite - infinite; }).op(), "sub") << "NaN is never allowed";
}

TEST(anomaly, nan_that_a_mask_hides_is_none) {
  const AnomalyMode guard;
  const Tensor scores = tensor_of({{{1, NAN}}});  // (batch, queries, keys), of which one is real
  const Variable weights = masked_softmax(scores, {.lengths = tensor_of({1}, DType::i64)});
  EXPECT_TRUE(close(weights.data(), {1, 0}, kExact));
}

TEST(anomaly, finds_what_hooks_and_sums_make) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({1}));
  const auto spoiled = [](const Variable& grad) { return Variable(full(grad.shape(), NAN)); };
  {
    const Variable y = x * 2;
    const HookHandle handle = register_edge_hook(y, 0, spoiled);
    EXPECT_NE(std::string(anomaly_of([&] { sum(y).backward(); }).what()).find("the gradient of input 0"),
              std::string::npos);
  }
  {
    Variable y = x * 2;
    const HookHandle handle = y.register_hook(spoiled);
    EXPECT_NE(std::string(anomaly_of([&] { sum(y).backward(); }).what())
                  .find("backward of scale found NaN at (0,) of the gradient of output 0"),
              std::string::npos);
  }
  const Variable y = x * 0;
  const Variable huge = tensor_of({3e38});
  const AnomalyError error = anomaly_of([&] { sum(y * huge + y * huge * 0.5).backward(); });
  EXPECT_EQ(error.op(), "scale") << "each is finite, their sum is not";
}

TEST(anomaly, an_op_that_was_recorded_before_has_no_backtrace) {
  const Variable x = leaf(tensor_of({0}));
  const Variable y = sum(sqrt(x));
  const AnomalyMode guard;
  const AnomalyError error = anomaly_of([&] { y.backward(); });
  EXPECT_EQ(error.op(), "sqrt");
  EXPECT_TRUE(error.backtrace().empty());
  EXPECT_NE(std::string(error.what()).find("; it was recorded outside of anomaly mode"), std::string::npos);
}

TEST(anomaly, the_op_is_named_and_not_what_its_backward_is_made_of) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({0}, DType::f64));
  for (const bool create_graph : {false, true}) {
    const Variable y = sum(x.pow(0.5));  // its derivative calls pow and scale
    EXPECT_EQ(anomaly_of([&] { y.backward({.create_graph = create_graph}); }).op(), "pow");
  }
}

TEST(anomaly, second_derivatives_are_looked_at_in_the_scope_of_the_op) {
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({0}, DType::f64));
  Variable y;
  {
    const Scope scope("power");
    y = sum(x.pow(1.5));  // slope 0 at 0, curvature infinite
  }
  const Variable slope = sum(grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0]);
  const AnomalyError error = anomaly_of([&] { slope.backward(); });
  EXPECT_EQ(error.op(), "pow");
  EXPECT_EQ(error.scope(), "power");
}

TEST(anomaly, ops_of_ones_own_are_looked_at_too) {
  struct Inverse : Function {
    Tensor forward(const Tensor& input) {
      save(input, x);
      return full(input.shape(), 1, input.dtype());
    }
    Variable backward(const Variable& grad) { return grad / x; }
    Variable x;
  };
  const AnomalyMode guard;
  const Variable x = leaf(tensor_of({0}));
  EXPECT_EQ(anomaly_of([&] { sum(apply<Inverse>(x)).backward(); }).op(), "Inverse");
}

TEST(anomaly, changes_no_number) {
  const auto run = [](bool watched) {
    const AnomalyMode guard(watched);
    const Variable x = leaf(full({8, 8}, 0.25));
    sum(x.matmul(x).tanh() / 3).backward();
    return x.grad().data();
  };
  EXPECT_TRUE(close(run(true), run(false), kExact));
}

TEST(anomaly, belongs_to_a_thread_and_ends_with_its_guard) {
  {
    const AnomalyMode guard;
    EXPECT_TRUE(anomaly_enabled());
    std::thread([] { EXPECT_FALSE(anomaly_enabled()); }).join();
    {
      const AnomalyMode off(false);
      EXPECT_FALSE(anomaly_enabled());
    }
    EXPECT_TRUE(anomaly_enabled());
  }
  EXPECT_FALSE(anomaly_enabled());
  try {
    const AnomalyMode guard;
    sqrt(tensor_of({-1}));
  } catch (const AnomalyError&) {
    EXPECT_FALSE(anomaly_enabled());
  }
}

TEST(scope, names_are_joined_and_remembered_by_nodes) {
  const Variable x = leaf(tensor_of({1}));
  const auto scope_of_an_op = [&] { return (x * 2).producer().node->scope(); };
  EXPECT_EQ(scope_of_an_op(), "");
  const Scope outer("decoder");
  EXPECT_EQ(scope_of_an_op(), "decoder");
  {
    const Scope inner("0.attention"), same("");
    EXPECT_EQ(scope_of_an_op(), "decoder.0.attention");
    const Scope again(Scope::Name(nullptr));
    EXPECT_EQ(scope_of_an_op(), "");
  }
  EXPECT_EQ(scope_of_an_op(), "decoder");
  std::thread([&] { EXPECT_EQ(scope_of_an_op(), ""); }).join();
}

TEST(scope, nodes_of_one_scope_share_its_name) {
  const Variable x = leaf(tensor_of({1}));
  const Scope scope("a");
  const Variable y = x * 2, z = x * 3;
  EXPECT_EQ(y.producer().node->scope_name(), z.producer().node->scope_name());
}

TEST(scope, the_graph_of_a_gradient_is_in_the_scope_of_the_op) {
  const Variable x = leaf(tensor_of({2}));
  Variable y;
  {
    const Scope scope("square");
    y = sum(x * x);
  }
  const Variable slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  EXPECT_TRUE(slope.producer().node->inputs[0].node->scope() == "square");
}

}  // namespace
}  // namespace heed::test
