#include <heed/autograd/function.h>

#include <gtest/gtest.h>

#include <cmath>

#include <heed/autograd/gradcheck.h>
#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

using Variables = std::vector<Variable>;

struct Cube : Function {  // y = x^3
  Tensor forward(const Tensor& input) {
    save(input, x);
    return kernels::pow(input, 3);
  }
  Variable backward(const Variable& grad) { return grad * 3.0 * x * x; }
  Variable x;
};

/// Saves its result, which derivatives pass through too.
struct Exponential : Function {
  Tensor forward(const Tensor& x) {
    Tensor result = kernels::exp(x);
    save(result, y);
    return result;
  }
  Variable backward(const Variable& grad) { return grad * y; }
  Variable y;
};

/// y = x^n, n a plain number.
struct Power : Function {
  explicit Power(double n) : exponent(n) {}
  Tensor forward(const Tensor& input) {
    save(input, x);
    return kernels::pow(input, exponent);
  }
  Variable backward(const Variable& grad) { return grad * exponent * x.pow(exponent - 1); }
  double exponent;
  Variable x;
};

/// a b + c, where c may be undefined.
struct MultiplyAdd : Function {
  Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third) {
    save(first, a);
    save(second, b);
    const Tensor product = kernels::mul(first, second);
    return third.defined() ? kernels::add(product, third) : product;
  }
  std::array<Variable, 3> backward(const Variable& grad) {
    asked = {wants(0), wants(1), wants(2)};
    return {grad * b, grad * a, grad};
  }
  Variable a, b;
  static inline std::array<bool, 3> asked;
};

/// (x + y, x - y)
struct SumAndDifference : Function {
  std::array<Tensor, 2> forward(const Tensor& x, const Tensor& y) {
    return {kernels::add(x, y), kernels::sub(x, y)};
  }
  Variables backward(const Variable& sum, const Variable& difference) {
    return {sum + difference, sum - difference};
  }
};

/// x, 2x, ... n x
struct Multiples : Function {
  explicit Multiples(int n) : count(n) {}
  std::vector<Tensor> forward(const Tensor& x) {
    std::vector<Tensor> all;
    for (int i = 1; i <= count; ++i) all.push_back(kernels::scale(x, i));
    return all;
  }
  Variable backward(std::span<const Variable> grads) {
    Variable total = grads[0];
    for (size_t i = 1; i < grads.size(); ++i) total += grads[i] * static_cast<double>(i + 1);
    return total;
  }
  int count;
};

Variable leaf(const std::vector<double>& values) {
  return Variable(from_values<double>(values, {static_cast<int64_t>(values.size())}), true);
}

GradcheckReport check(const DifferentiableFunction& f, const Variables& inputs) {
  const GradcheckReport first = gradcheck(f, inputs);
  return first ? gradgradcheck(f, inputs) : first;
}

TEST(function, is_an_op_like_any_other) {
  const Variable x = leaf({2, -3});
  const Variable y = apply<Cube>(x);
  EXPECT_TRUE(close(y.data(), {8, -27}, kExact));
  EXPECT_STREQ(y.producer().node->name(), "Cube");
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), {12, 27}, kExact));
}

TEST(function, third_derivatives_come_by_themselves) {
  const Variable x(scalar(2, DType::f64), true);
  const auto slope = [&](const Variable& y) { return grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0]; };
  const Variable first = slope(apply<Cube>(x)), second = slope(first), third = slope(second);
  EXPECT_EQ(first.item(), 12);
  EXPECT_EQ(second.item(), 12);
  EXPECT_EQ(third.item(), 6);
}

TEST(function, passes_the_gradient_checks) {
  EXPECT_EQ(check([](auto in) { return Variables{apply<Cube>(in[0])}; }, {leaf({0.5, -1, 2})}).failure, "");
  EXPECT_EQ(check([](auto in) { return Variables{apply<Exponential>(in[0])}; }, {leaf({0.5, -1})}).failure,
            "");
  EXPECT_EQ(check([](auto in) { return Variables{apply(Power(2.5), in[0])}; }, {leaf({0.5, 2})}).failure, "");
  EXPECT_EQ(check([](auto in) { return apply(Multiples(3), in[0]); }, {leaf({0.5, 2})}).failure, "");
  EXPECT_EQ(check([](auto in) { return Variables{apply<MultiplyAdd>(in[0], in[1], in[2])}; },
                  {leaf({1, 2}), leaf({3, 4}), leaf({5, 6})})
                .failure,
            "");
  EXPECT_EQ(check(
                [](auto in) {
                  const auto [sum, difference] = apply<SumAndDifference>(in[0], in[1]);
                  return Variables{sum * sum, difference};
                },
                {leaf({1, 2}), leaf({3, 5})})
                .failure,
            "");
}

TEST(function, gradcheck_finds_a_wrong_backward) {
  struct Wrong : Function {
    Tensor forward(const Tensor& x) { return kernels::scale(x, 2); }
    Variable backward(const Variable& grad) { return grad; }
  };
  EXPECT_NE(gradcheck([](auto in) { return Variables{apply<Wrong>(in[0])}; }, Variables{leaf({1})}).failure,
            "");
}

TEST(function, the_same_variable_twice_gets_both_gradients) {
  const Variable x = leaf({3});
  sum(apply<MultiplyAdd>(x, x, x)).backward();
  EXPECT_EQ(x.grad().data().at({0}), 7);
}

TEST(function, outputs_that_nobody_used_have_the_gradient_zero) {
  const Variable x = leaf({3}), y = leaf({4});
  const auto [unused, difference] = apply<SumAndDifference>(x, y);
  sum(difference).backward();
  EXPECT_TRUE(close(x.grad().data(), {1}, kExact));
  EXPECT_TRUE(close(y.grad().data(), {-1}, kExact));
}

TEST(function, inputs_may_be_undefined_or_constant_and_it_can_ask_which_gradients_are_wanted) {
  const Variable a = leaf({3});
  const Tensor b = tensor_of({5}, DType::f64);
  sum(apply<MultiplyAdd>(a, b, Variable())).backward();
  EXPECT_EQ(a.grad().data().at({0}), 5);
  EXPECT_EQ(MultiplyAdd::asked, (std::array{true, false, false}));
}

TEST(function, is_not_recorded_where_no_gradient_is_wanted) {
  EXPECT_FALSE(apply<Cube>(tensor_of({2}, DType::f64)).requires_grad());
  const NoGrad guard;
  EXPECT_FALSE(apply<Cube>(leaf({2})).requires_grad());
}

TEST(function, an_output_that_is_no_float_is_a_constant) {
  struct Rounded : Function {
    std::array<Tensor, 2> forward(const Tensor& x) { return {kernels::scale(x, 2), x.to(DType::i64)}; }
    Variable backward(const Variable& grad, const Variable&) { return grad * 2.0; }
  };
  const Variable x = leaf({2.5});
  const auto [twice, whole] = apply<Rounded>(x);
  EXPECT_FALSE(whole.requires_grad());
  EXPECT_EQ(whole.data().at({0}), 2);
  sum(twice).backward();
  EXPECT_EQ(x.grad().data().at({0}), 2);
}

TEST(function, a_saved_value_that_was_edited_is_an_error) {
  const Variable x = leaf({2}) * 1;
  const Variable cube = sum(apply<Cube>(x)), exponential = apply<Exponential>(x);
  Tensor(x.data()).fill(5);
  expect_error<GraphError>([&] { cube.backward(); }, "[backward of Cube] a saved value was edited in place");
  Tensor(exponential.data()).fill(5);
  expect_error<GraphError>([&] { sum(exponential).backward(); },
                           "[backward of Exponential] its result was edited in place");
}

TEST(function, anything_else_that_is_saved_is_a_constant_and_watched_for_edits) {
  struct Scaled : Function {
    explicit Scaled(Tensor by) : factor(std::move(by)) {}
    Tensor forward(const Tensor& x) {
      save(factor, saved);
      return kernels::mul(x, factor);
    }
    Variable backward(const Variable& grad) { return grad * saved; }
    Tensor factor;
    Variable saved;
  };
  Tensor factor = tensor_of({7}, DType::f64);
  const Variable x = leaf({2});
  sum(apply(Scaled(factor), x)).backward();
  EXPECT_EQ(x.grad().data().at({0}), 7);
  const Variable again = sum(apply(Scaled(factor), x));
  factor.fill(1);
  expect_error<GraphError>([&] { again.backward(); },
                           "[backward of Scaled] a saved value was edited in place");
}

TEST(function, saved_values_go_with_the_graph) {
  const int64_t before = memory_stats().current;
  {
    const Variable x(ones({1000}), true);
    const Variable loss = sum(apply<Cube>(x * 2));
    const int64_t held = memory_stats().current;
    loss.backward();
    EXPECT_LE(memory_stats().current, held) << "the gradient took the place of what was saved";
    expect_error<GraphError>([&] { loss.backward(); }, "its graph was freed by an earlier backward");
    apply<Exponential>(x);  // it saves its own result: dropped without a backward
  }
  EXPECT_EQ(memory_stats().current, before);
}

TEST(function, wrong_gradients_are_named) {
  struct TooFew : MultiplyAdd {
    Variable backward(const Variable& grad) { return grad; }
  };
  struct WrongShape : Function {
    Tensor forward(const Tensor& x) { return x.clone(); }
    Variable backward(const Variable&) { return ones({3}, DType::f64); }
  };
  const Variable x = leaf({1, 2});
  expect_error<GraphError>([&] { sum(apply<TooFew>(x, x, x)).backward(); },
                           "[backward of TooFew] wanted 3 gradients, one per input, came 1");
  expect_error<ShapeError>(
      [&] { sum(apply<WrongShape>(x)).backward(); },
      "[backward of WrongShape] wanted f64(2,) as the gradient of input 0, came f64(3,)");
  EXPECT_FALSE(x.grad().defined());
}

TEST(function, wrong_results_of_forward_are_named) {
  struct Undefined : SumAndDifference {
    std::array<Tensor, 2> forward(const Tensor& x, const Tensor&) { return {x.clone(), Tensor()}; }
  };
  struct Nothing : Multiples {
    Nothing() : Multiples(0) {}
  };
  struct Edits : Function {
    Tensor forward(const Tensor& x) {
      Tensor same = x;
      same.fill(0);
      return same;
    }
    Variable backward(const Variable& grad) { return grad; }
  };
  const Variable x = leaf({1, 2});
  expect_error<ValueError>([&] { apply<Undefined>(x, x); }, "[Undefined] result 1 of forward is undefined");
  expect_error<ValueError>([&] { apply<Nothing>(x); },
                           "[Nothing] wanted at least one result of forward, came none");
  expect_error<ValueError>([&] { apply<Edits>(x); }, "[Edits] forward edited input 0 in place: f64(2,)");
}

TEST(function, inputs_over_the_same_numbers_are_told_apart) {
  const auto second_derivative = [](const auto& product_of) {
    const Variable x(scalar(3, DType::f64), true);
    const Variable y = product_of(x);
    const Variable slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
    return slope.requires_grad() ? grad({&slope, 1}, {&x, 1}, {}, {.allow_unused = true})[0] : Variable();
  };
  const Variable none;
  // x * stop(x) has the slope stop(x), and that is flat.
  for (const bool first : {true, false}) {
    const Variable curvature = second_derivative([&](const Variable& x) {
      return first ? apply<MultiplyAdd>(x, x.detach(), none) : apply<MultiplyAdd>(x.detach(), x, none);
    });
    EXPECT_FALSE(curvature.defined());
  }
  EXPECT_EQ(second_derivative([&](const Variable& x) { return apply<MultiplyAdd>(x, x, none); }).item(), 2);

  struct Copies : MultiplyAdd {
    Tensor forward(const Tensor& first, const Tensor& second, const Tensor&) {
      const Tensor copy = first;
      save(copy, a);
      return kernels::mul(first, second);
    }
  };
  const Variable x(scalar(3, DType::f64), true);
  expect_error<GraphError>([&] { apply<Copies>(x, x.detach(), none); },
                           "[save] a copy of a tensor that several inputs");
  EXPECT_NO_THROW(apply<Copies>(x, x, none));
}

TEST(function, saving_belongs_into_forward) {
  struct Late : Function {
    Tensor forward(const Tensor& x) { return x.clone(); }
    Variable backward(const Variable& grad) {
      save(grad.data(), kept);
      return grad;
    }
    Variable kept;
  };
  const Variable y = sum(apply<Late>(leaf({1})));
  expect_error<GraphError>([&] { y.backward(); }, "[save] wanted a call inside of forward");
}

TEST(function, an_error_in_forward_or_backward_comes_out) {
  struct Refuses : Function {
    Tensor forward(const Tensor& x) {
      if (x.numel() > 2) throw std::runtime_error("forward");
      return x.clone();
    }
    Variable backward(const Variable&) { throw std::runtime_error("backward"); }
  };
  const Variable x = leaf({1, 2});
  EXPECT_THROW(apply<Refuses>(leaf({1, 2, 3})), std::runtime_error);
  EXPECT_THROW(sum(apply<Refuses>(x)).backward(), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
}

TEST(function, hooks_see_its_node_and_edges) {
  const Variable x = leaf({2});
  const Variable y = apply<Cube>(x);
  std::vector<double> seen;
  const HookHandle handle = register_edge_hook(y, 0, [&](const Variable& grad) {
    seen.push_back(grad.data().at({0}));
    return Variable();
  });
  sum(y).backward();
  EXPECT_EQ(seen, std::vector<double>{12});
}

}  // namespace
}  // namespace heed::test
