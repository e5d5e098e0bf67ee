#include <cmath>

#include <heed/optim/adam.h>
#include <heed/optim/clip.h>
#include <heed/optim/rmsprop.h>
#include <heed/optim/sgd.h>

#include "tests/optim/helpers.h"
#include "tests/tensor/generators.h"

using namespace heed;
using namespace heed::test;

/// The rules over random shapes, layouts and options, against what they are for a single number.
namespace {

double any_number(double low, double high) {
  return low + (high - low) * static_cast<double>(any_between(0, 1000)) / 1000;
}

bool any_choice() { return any_between(0, 1) == 1; }

/// Three steps of an optimizer of one parameter; move(p, g, t) is what they do to number i of it.
template <class Move>
void expect_rule(const std::function<std::unique_ptr<optim::Optimizer>(const NamedVariables&)>& make,
                 Move move) {
  const Shape shape = any_shape();
  const Variable parameter(any_tensor(shape).clone(), true);
  std::vector<double> wanted = parameter.data().to_vector<double>();
  const auto optimizer = make({{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    const Tensor grad = any_tensor(shape);
    Variable(parameter).set_grad(grad);
    optimizer->step();
    const std::vector<double> g = grad.to_vector<double>();
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = move(i, wanted[i], g[i], t);
  }
  RC_ASSERT(bool(close(parameter.data(), wanted, kF64)));
}

void sgd_rule() {
  optim::SGDOptions o{.lr = any_number(0, 1), .weight_decay = any_number(0, 1)};
  if (any_choice()) o.momentum = any_number(0.1, 0.9);
  if (o.momentum > 0 && any_choice()) o.nesterov = true;
  if (o.momentum > 0 && !o.nesterov) o.dampening = any_number(0, 0.9);
  std::map<size_t, double> speeds;
  expect_rule([&](const NamedVariables& p) { return std::make_unique<optim::SGD>(p, o); },
              [&](size_t i, double p, double g, int t) {
                g += o.weight_decay * p;
                double& v = speeds[i];
                v = t == 1 ? g : o.momentum * v + (1 - o.dampening) * g;
                if (o.momentum == 0) return p - o.lr * g;
                return p - o.lr * (o.nesterov ? g + o.momentum * v : v);
              });
}

/// Adam, or AdamW where the decay is decoupled.
void adam_rule() {
  const bool decoupled = any_choice();
  const optim::AdamOptions o{.lr = any_number(0, 1),
                             .beta1 = any_number(0, 0.99),
                             .beta2 = any_number(0, 0.99),
                             .epsilon = any_number(1e-3, 1),
                             .weight_decay = any_number(0, 1),
                             .amsgrad = any_choice()};
  struct Moments {
    double m = 0, v = 0, largest = 0;
  };
  std::map<size_t, Moments> moments;
  expect_rule(
      [&](const NamedVariables& p) -> std::unique_ptr<optim::Optimizer> {
        if (!decoupled) return std::make_unique<optim::Adam>(p, o);
        return std::make_unique<optim::AdamW>(
            p, optim::AdamWOptions{o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.amsgrad});
      },
      [&](size_t i, double p, double g, int t) {
        auto& [m, v, largest] = moments[i];
        if (decoupled)
          p -= o.lr * o.weight_decay * p;
        else
          g += o.weight_decay * p;
        m = o.beta1 * m + (1 - o.beta1) * g;
        v = o.beta2 * v + (1 - o.beta2) * g * g;
        largest = std::max(largest, v);
        const double mean = m / (1 - std::pow(o.beta1, t));
        const double square = (o.amsgrad ? largest : v) / (1 - std::pow(o.beta2, t));
        return p - o.lr * mean / (std::sqrt(square) + o.epsilon);
      });
}

void rmsprop_rule() {
  const optim::RMSpropOptions o{.lr = any_number(0, 1),
                                .alpha = any_number(0.1, 0.99),
                                .epsilon = any_number(1e-3, 1),
                                .weight_decay = any_number(0, 1),
                                .momentum = any_choice() ? any_number(0.1, 0.9) : 0,
                                .centered = any_choice()};
  struct Moments {
    double v = 0, mean = 0, speed = 0;
  };
  std::map<size_t, Moments> moments;
  expect_rule([&](const NamedVariables& p) { return std::make_unique<optim::RMSprop>(p, o); },
              [&](size_t i, double p, double g, int) {
                auto& [v, mean, speed] = moments[i];
                g += o.weight_decay * p;
                v = o.alpha * v + (1 - o.alpha) * g * g;
                mean = o.alpha * mean + (1 - o.alpha) * g;
                const double spread = o.centered ? v - mean * mean : v;
                speed = o.momentum * speed + g / (std::sqrt(spread) + o.epsilon);
                return p - o.lr * speed;
              });
}

}  // namespace

TEST(Rules, hold_for_every_element_in_any_shape_and_layout) {
  EXPECT_TRUE(rc::check(sgd_rule));
  EXPECT_TRUE(rc::check(adam_rule));
  EXPECT_TRUE(rc::check(rmsprop_rule));
}

TEST(Rules, clipping_shortens_to_the_limit_and_turns_nothing) {
  EXPECT_TRUE(rc::check([] {
    Variables parameters;
    std::vector<Tensor> before;
    double squares = 0;
    for (int64_t i = any_between(0, 3); i >= 0; --i) {
      before.push_back(any_tensor(any_shape()));
      parameters.push_back(with_grad(zeros(before.back().shape(), DType::f64), before.back()));
      for (const double g : before.back().to_vector<double>()) squares += g * g;
    }
    const double limit = any_number(0.01, 10), norm = std::sqrt(squares);
    RC_ASSERT(std::abs(optim::clip_grad_norm(parameters, limit) - norm) <= 1e-12 * norm);
    for (size_t i = 0; i < parameters.size(); ++i) {
      std::vector<double> wanted = before[i].to_vector<double>();
      for (double& g : wanted) g *= std::min(1.0, limit / norm);
      RC_ASSERT(bool(close(parameters[i].grad().data(), wanted, kF64)));
    }
  }));
}
