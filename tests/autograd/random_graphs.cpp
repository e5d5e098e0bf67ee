#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include <heed/autograd/checkpoint.h>
#include <heed/autograd/ops.h>

#include "tests/ops/close.h"

/// Graphs of random form, in which values are used any number of times, against derivatives that are carried
/// forward beside each value.
namespace heed::test {
namespace {

constexpr size_t kLeaves = 3;

/// One op of a program: on the values number a and b, of all that are there by then.
struct Step {
  int op;
  size_t a, b;
};

std::vector<Step> random_program() {
  std::vector<Step> program;
  const auto steps = *rc::gen::inRange<size_t>(1, 40);
  for (size_t i = 0; i < steps; ++i)
    program.push_back({*rc::gen::inRange(0, 4), *rc::gen::inRange<size_t>(0, kLeaves + i),
                       *rc::gen::inRange<size_t>(0, kLeaves + i)});
  return program;
}

/// The same arithmetic on variables and on dual numbers. None of it grows, however long the program is.
template <class Value>
Value run(const std::vector<Step>& program, std::vector<Value> values) {
  for (const auto& [op, a, b] : program) {
    const Value x = values[a], y = values[b];
    switch (op) {
      case 0: values.push_back((x + y) * 0.5); break;
      case 1: values.push_back(tanh(x * y)); break;
      case 2: values.push_back((x - y) * 0.5); break;
      default: values.push_back(tanh(x) * y); break;
    }
  }
  Value total = values.back();
  for (size_t i = kLeaves; i + 1 < values.size(); i += 3) total = total + values[i];
  return total;
}

/// A number and its derivatives by the leaves.
struct Dual {
  double value;
  std::array<double, kLeaves> slopes;

  /// f(this, other), whose derivatives by the two are given.
  Dual chain(double result, double by_this, const Dual& other, double by_other) const {
    Dual all{result, {}};
    for (size_t i = 0; i < kLeaves; ++i) all.slopes[i] = by_this * slopes[i] + by_other * other.slopes[i];
    return all;
  }
  friend Dual operator+(const Dual& a, const Dual& b) { return a.chain(a.value + b.value, 1, b, 1); }
  friend Dual operator-(const Dual& a, const Dual& b) { return a.chain(a.value - b.value, 1, b, -1); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return a.chain(a.value * b.value, b.value, b, a.value);
  }
  friend Dual operator*(const Dual& a, double b) { return a.chain(a.value * b, b, a, 0); }
  friend Dual tanh(const Dual& a) {
    const double t = std::tanh(a.value);
    return a.chain(t, 1 - t * t, a, 0);
  }
};

struct Expected {
  std::vector<Variable> leaves;
  Dual result;
};

Expected expected_of(const std::vector<Step>& program) {
  Expected expected;
  std::vector<Dual> duals;
  for (size_t i = 0; i < kLeaves; ++i) {
    const double value = 0.4 * static_cast<double>(i) - 0.5;
    expected.leaves.emplace_back(scalar(value, DType::f64), true);
    duals.push_back({value, {}});
    duals.back().slopes[i] = 1;
  }
  expected.result = run(program, duals);
  return expected;
}

void expect_slopes(const std::vector<Variable>& grads, const Dual& expected) {
  for (size_t i = 0; i < kLeaves; ++i) {
    const double slope = grads[i].defined() ? grads[i].item() : 0;
    RC_ASSERT(std::abs(slope - expected.slopes[i]) <= 1e-9 * (1 + std::abs(expected.slopes[i])));
  }
}

std::vector<Variable> grads_of(const std::vector<Variable>& leaves) {
  std::vector<Variable> grads;
  for (const Variable& leaf : leaves) grads.push_back(leaf.grad());
  return grads;
}

TEST(case_C11, graphs_of_any_form_have_the_gradients_that_are_carried_forward) {
  EXPECT_TRUE(rc::check([] {
    const auto program = random_program();
    const Expected expected = expected_of(program);
    const Variable result = run(program, expected.leaves);
    RC_ASSERT(std::abs(result.item() - expected.result.value) <= 1e-12 * (1 + std::abs(result.item())));
    if (!result.requires_grad()) return;
    expect_slopes(grad({&result, 1}, expected.leaves, {}, {.retain_graph = true, .allow_unused = true}),
                  expected.result);
    result.backward();
    expect_slopes(grads_of(expected.leaves), expected.result);
  }));
}

TEST(checkpoint, graphs_of_any_form_have_the_same_gradients) {
  EXPECT_TRUE(rc::check([] {
    const auto program = random_program();
    const Expected expected = expected_of(program);
    const auto given = *rc::gen::inRange<size_t>(0, kLeaves + 1);  // the others are captured
    const std::vector<Variable> captured(expected.leaves.begin() + static_cast<std::ptrdiff_t>(given),
                                         expected.leaves.end());
    const Variable result = checkpoint(
        [&](std::span<const Variable> in) {
          std::vector<Variable> leaves(in.begin(), in.end());
          leaves.insert(leaves.end(), captured.begin(), captured.end());
          return std::vector{run(program, leaves)};
        },
        std::span(expected.leaves).first(given))[0];
    expect_slopes(grad({&result, 1}, expected.leaves, {}, {.retain_graph = true, .allow_unused = true}),
                  expected.result);
    result.backward();
    expect_slopes(grads_of(expected.leaves), expected.result);
  }));
}

}  // namespace
}  // namespace heed::test
