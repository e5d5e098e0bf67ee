#include <heed/autograd/checkpoint.h>

#include <gtest/gtest.h>

#include <cmath>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/gradcheck.h>
#include <heed/autograd/hooks.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

using Variables = std::vector<Variable>;
using Function1 = std::function<Variable(const Variable&)>;

Variable random_leaf(const Shape& shape, uint64_t seed, DType dtype = DType::f32) {
  Generator generator(seed);
  return Variable(rand_normal(shape, 0, 0.5, dtype, generator), true);
}

/// Some layers, each with parameters, an activation and dropout.
struct Layers {
  Variables weights;
  explicit Layers(int count) {
    for (int i = 0; i < count; ++i) weights.push_back(random_leaf({16, 16}, 10 + static_cast<uint64_t>(i)));
  }
  Variable layer(size_t i, const Variable& x) const { return dropout(tanh(matmul(x, weights[i])), 0.25) + x; }
  Variables grads() const {
    Variables all;
    for (const Variable& w : weights) all.push_back(w.grad());
    return all;
  }
};

/// Runs three layers and returns the result, the gradients of the weights and that of the input.
Variables train(bool checkpointed) {
  manual_seed(7);
  const auto layers = std::make_shared<Layers>(3);
  const Variable x = random_leaf({8, 16}, 1);
  Variable y = x;
  for (size_t i = 0; i < 3; ++i) {
    const Function1 layer = [layers, i](const Variable& in) { return layers->layer(i, in); };
    y = checkpointed ? checkpoint(layer, y) : layer(y);
  }
  sum(y * y).backward();
  Variables all = layers->grads();
  all.push_back(x.grad());
  all.push_back(y.detach());
  all.push_back(rand_uniform({4}));  // the generator went on as if nothing had been run again
  return all;
}

TEST(checkpoint, all_numbers_are_those_without_bit_for_bit_also_with_dropout) {
  const Variables plain = train(false), checkpointed = train(true);
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_TRUE(checkpointed[i].defined()) << i;
    EXPECT_TRUE(close(checkpointed[i].data(), plain[i].data(), kExact)) << i;
  }
}

/// The most memory in use over the backward pass of `steps` segments, above what there was before.
int64_t peak_of(bool checkpointed, int steps, int64_t count) {
  const Variable x(full({count}, 0.5), true);
  const int64_t before = memory_stats().current;
  reset_peak_memory();
  const Function1 segment = [](const Variable& in) {
    Variable y = in;
    for (int i = 0; i < 8; ++i) y = tanh(y);
    return y;
  };
  Variable y = x;
  for (int i = 0; i < steps; ++i) y = checkpointed ? checkpoint(segment, y) : segment(y);
  const Variable loss = sum(y);
  y = {};
  loss.backward();
  return memory_stats().peak - before;
}

TEST(checkpoint, needs_less_memory) {
  constexpr int64_t kCount = 1 << 18, kBytes = kCount * 4;
  const int64_t plain = peak_of(false, 8, kCount), checkpointed = peak_of(true, 8, kCount);
  EXPECT_GE(plain, 64 * kBytes);
  EXPECT_LE(checkpointed, (8 + 8 + 6) * kBytes);  // an input per segment, one segment, and what is in flight
}

TEST(checkpoint, the_first_run_keeps_nothing_in_between) {
  constexpr int64_t kCount = 1 << 18, kBytes = kCount * 4;
  const Variable x(full({kCount}, 0.5), true);
  reset_peak_memory();
  const int64_t before = memory_stats().current;
  const Variable y = checkpoint(
      [](const Variable& in) {
        Variable out = in;
        for (int i = 0; i < 20; ++i) out = tanh(out);
        return out;
      },
      x);
  EXPECT_LE(memory_stats().peak - before, 3 * kBytes);
  EXPECT_LE(memory_stats().current - before, kBytes);
}

TEST(checkpoint, gradients_reach_what_the_function_uses_without_being_given_it) {
  const Variable x = random_leaf({4}, 1, DType::f64), w = random_leaf({4}, 2, DType::f64);
  const Variable outside = exp(w);  // no leaf
  const auto f = [w, outside](const Variable& in) { return in * outside * w; };
  const Variable plain = sum(f(x));
  const Variables wanted{x, w, outside};
  const Variables expected = grad({&plain, 1}, wanted, {}, {.retain_graph = true});
  const Variable checkpointed = sum(checkpoint(f, x));
  const Variables got = grad({&checkpointed, 1}, wanted, {}, {.retain_graph = true});
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(close(got[i].data(), expected[i].data(), kF64)) << i;
  for (const Variable& v : {x, w}) EXPECT_FALSE(v.grad().defined()) << "grad touches none";
  EXPECT_TRUE(close(grad({&checkpointed, 1}, {&w, 1}, {}, {.retain_graph = true})[0].data(),
                    expected[1].data(), kF64))
      << "one alone";
  checkpointed.backward();
  EXPECT_TRUE(close(x.grad().data(), expected[0].data(), kF64));
  EXPECT_TRUE(close(w.grad().data(), expected[1].data(), kF64));
}

TEST(checkpoint, an_input_that_is_captured_too_gets_both_gradients) {
  const Variable x(scalar(3, DType::f64), true);
  checkpoint([x](const Variable& in) { return in * x * x; }, x).backward();
  EXPECT_EQ(x.grad().item(), 27);
}

TEST(checkpoint, passes_first_and_second_derivative_checks) {
  const Variables inputs{random_leaf({3}, 1, DType::f64), random_leaf({3}, 2, DType::f64)};
  const auto f = [](std::span<const Variable> in) {
    const Variable captured = in[1] * 2;
    const Variables first{in[0], in[0]};
    return checkpoint(
        [captured](std::span<const Variable> given) {
          const Variable product = tanh(given[0] * captured);
          return Variables{product * given[1], exp(product)};
        },
        first);
  };
  EXPECT_EQ(gradcheck(f, inputs).failure, "");
  EXPECT_EQ(gradgradcheck(f, inputs).failure, "");
}

TEST(checkpoint, nests) {
  int runs = 0;
  const Variable x(scalar(0.5, DType::f64), true), w(scalar(2, DType::f64), true);
  const Function1 inner = [w, &runs](const Variable& in) {
    ++runs;
    return tanh(in * w);
  };
  const Variable y = checkpoint([&](const Variable& in) { return exp(checkpoint(inner, in)) * w; }, x);
  EXPECT_EQ(runs, 1);
  y.backward();
  EXPECT_EQ(runs, 3) << "for the outer one and for itself";
  const double t = std::tanh(1.0), e = std::exp(t);
  EXPECT_NEAR(x.grad().item(), 2 * e * (1 - t * t) * 2, 1e-12);
  EXPECT_NEAR(w.grad().item(), e + 2 * e * (1 - t * t) * 0.5, 1e-12);
}

TEST(checkpoint, several_inputs_and_results_some_without_gradient) {
  const Variable x(scalar(3, DType::f64), true), constant = scalar(5, DType::f64);
  const Variables given{x, constant, Variable()};
  const Variables results = checkpoint(
      [](std::span<const Variable> in) {
        EXPECT_FALSE(in[1].requires_grad());
        EXPECT_FALSE(in[2].defined());
        return Variables{in[0] * in[1], in[1] * 2, in[0] * in[0], in[0]};
      },
      given);
  EXPECT_EQ(results[1].item(), 10);
  EXPECT_FALSE(results[1].requires_grad());
  (results[2] + results[3]).backward();  // the first one gets no gradient
  EXPECT_EQ(x.grad().item(), 7);
}

TEST(checkpoint, is_nothing_where_no_gradient_is_wanted) {
  const Variable x(scalar(3, DType::f64), true);
  const Function1 square = [](const Variable& in) { return in * in; };
  EXPECT_FALSE(checkpoint(square, x.detach()).requires_grad());
  const NoGrad guard;
  EXPECT_EQ(checkpoint(square, x).item(), 9);
  EXPECT_FALSE(checkpoint(square, x).requires_grad());
}

TEST(checkpoint, works_in_a_backward_under_no_grad) {
  const Variable x(scalar(3, DType::f64), true);
  const Variable y = checkpoint([](const Variable& in) { return in * in; }, x);
  const NoGrad guard;
  y.backward();
  EXPECT_EQ(x.grad().item(), 6);
  EXPECT_FALSE(grad_enabled());
}

TEST(checkpoint, hooks_see_each_gradient_once) {
  Variable x(scalar(3, DType::f64), true), w(scalar(2, DType::f64), true);
  std::vector<double> of_x, of_w, inside;
  const auto watch = [](std::vector<double>& seen) {
    return [&seen](const Variable& grad) {
      seen.push_back(grad.item());
      return Variable();
    };
  };
  const HookHandle handles[] = {x.register_hook(watch(of_x)), w.register_hook(watch(of_w))};
  std::vector<HookHandle> registered;
  std::vector<bool> again;
  checkpoint(
      [&](const Variable& in) {
        Variable product = in * w;
        registered.push_back(product.register_hook(watch(inside)));
        again.push_back(recomputing());
        return product * 5;
      },
      x)
      .backward();
  EXPECT_EQ(of_x, std::vector<double>{10});
  EXPECT_EQ(of_w, std::vector<double>{15});
  EXPECT_EQ(inside, std::vector<double>{5});
  EXPECT_EQ(again, (std::vector<bool>{false, true}));
  EXPECT_FALSE(recomputing());
}

TEST(checkpoint, ops_run_in_the_scope_of_the_first_time) {
  const Variable x(scalar(3, DType::f64), true);
  std::vector<std::string> scopes;
  Variable y;
  {
    const Scope scope("layer");
    y = checkpoint(
        [&](const Variable& in) {
          const Variable out = in * 2;
          scopes.push_back(out.producer().node->scope());
          return out;
        },
        x);
  }
  const Scope other("elsewhere");
  y.backward();
  EXPECT_EQ(scopes, (std::vector<std::string>{"layer", "layer"}));
}

TEST(checkpoint, anomaly_mode_names_the_op_inside) {
  const AnomalyMode guard;
  const Variable x(scalar(0, DType::f64), true);
  const Variable y = checkpoint([](const Variable& in) { return sqrt(in) * 2; }, x);
  try {
    y.backward();
    ADD_FAILURE() << "no anomaly was found";
  } catch (const AnomalyError& error) {
    EXPECT_EQ(error.op(), "sqrt");
    EXPECT_FALSE(error.backtrace().empty());
  }
}

TEST(checkpoint, an_edited_input_is_an_error) {
  const Variable a(scalar(3, DType::f64), true);
  const Variable x = a * 1;
  const Variable y = checkpoint([](const Variable& in) { return in * in; }, x);
  Tensor(x.data()).fill(5);
  expect_error<GraphError>([&] { y.backward(); },
                           "[backward of checkpoint] a saved value was edited in place");
  EXPECT_FALSE(a.grad().defined());
}

TEST(checkpoint, other_results_the_second_time_are_an_error) {
  const Variable x(scalar(3, DType::f64), true), w(scalar(2, DType::f64), true);
  const Variable y = checkpoint([w](const Variable& in) { return in * w; }, x);
  Tensor(w.data()).fill(7);  // an optimizer's step in between
  expect_error<GraphError>([&] { y.backward(); },
                           "[backward of checkpoint] the function gave other numbers when it ran again");
  Generator own(3);
  const Variable z =
      checkpoint([&](const Variable& in) { return dropout(in * ones({64}, DType::f64), 0.5, own); }, x);
  expect_error<GraphError>([&] { sum(z).backward(); }, "gave other numbers");
}

TEST(checkpoint, other_variables_the_second_time_are_an_error) {
  const Variable x(scalar(3, DType::f64), true), a(scalar(2, DType::f64), true),
      b(scalar(2, DType::f64), true);
  const Variable y = checkpoint([&](const Variable& in) { return in * (recomputing() ? b : a); }, x);
  expect_error<GraphError>([&] { y.backward(); },
                           "[checkpoint] the function used other variables when it ran again");
  EXPECT_FALSE(b.grad().defined());
}

TEST(checkpoint, the_function_takes_no_gradients_itself_and_returns_variables) {
  const Variable x(scalar(3, DType::f64), true);
  const Function1 penalty = [](const Variable& in) {
    const Variable y = in * in;
    return grad({&y, 1}, {&in, 1})[0];
  };
  const Function1 walks = [](const Variable& in) {
    (in * in).backward();
    return in;
  };
  for (const Function1& f : {penalty, walks})
    expect_error<GraphError>(
        [&] { checkpoint(f, x); },
        "[checkpoint] gradients cannot be taken inside of the function that is checkpointed");
  expect_error<ValueError>([&] { checkpoint([](const Variable&) { return Variable(); }, x); },
                           "[checkpoint] the function returned an undefined variable");
}

TEST(checkpoint, an_exception_in_the_function_leaves_all_as_it_was) {
  const Variable x(scalar(3, DType::f64), true);
  bool fail = true;
  const Function1 f = [&](const Variable& in) {
    if (fail) throw std::runtime_error("mine");
    return dropout(in, 0.5);
  };
  EXPECT_THROW(checkpoint(f, x), std::runtime_error);
  fail = false;
  const Variable y = checkpoint(f, x);
  fail = true;
  const uint64_t position = default_generator().position();
  EXPECT_THROW(y.backward({.retain_graph = true}), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(recomputing());
  EXPECT_EQ(default_generator().position(), position);
  fail = false;
  y.backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST(checkpoint, keeps_no_memory_and_no_circle) {
  const int64_t before = memory_stats().current;
  {
    const Variable x(full({1000}, 0.5), true), w(full({1000}, 2), true);
    const Function1 f = [w](const Variable& in) { return tanh(in * w); };
    sum(checkpoint(f, x)).backward();
    checkpoint(f, checkpoint(f, x));
  }
  EXPECT_EQ(memory_stats().current, before);
}

}  // namespace
}  // namespace heed::test
