#include <heed/nn/sequential.h>

#include <cmath>

#include <heed/autograd/graph.h>
#include <heed/autograd/node.h>
#include <heed/nn/activation.h>
#include <heed/nn/dropout.h>
#include <heed/nn/linear.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Activation;

TEST(Activation, is_the_function_of_its_kind) {
  const Tensor x = tensor_of({-2, 0.5});
  const auto expect = [&](ActivationKind kind, double (*f)(double)) {
    EXPECT_TRUE(close(Activation(kind)(Variable(x)).data(), {f(-2), f(0.5)}, kF32));
  };
  expect(ActivationKind::relu, [](double a) { return std::max(a, 0.0); });
  expect(ActivationKind::gelu, [](double a) { return a * (1 + std::erf(a / std::sqrt(2.0))) / 2; });
  expect(ActivationKind::tanh, [](double a) { return std::tanh(a); });
  expect(ActivationKind::sigmoid, [](double a) { return 1 / (1 + std::exp(-a)); });
}

TEST(Sequential, is_its_layers_one_after_the_other) {
  nn::Sequential net;
  auto& first = net.add<nn::Linear>(nn::LinearOptions{.inputs = 3, .outputs = 4});
  net.add<Activation>(ActivationKind::tanh);
  auto& last = net.add<nn::Linear>(nn::LinearOptions{.inputs = 4, .outputs = 2, .bias = false});
  EXPECT_EQ(net.size(), 3u);
  EXPECT_EQ(&net[2], &last);
  EXPECT_EQ(names_of(net.named_parameters()), (std::vector<std::string>{"0.weight", "0.bias", "2.weight"}));
  const Variable x(random_tensor({5, 3}));
  EXPECT_TRUE(identical(net(x).data(), last(first(x).tanh()).data()));
  EXPECT_EQ(net(x).producer().node->scope(), "2");
}

TEST(Sequential, reaches_its_layers_with_modes_and_types) {
  nn::Sequential net;
  net.add<nn::Linear>(nn::LinearOptions{.inputs = 3, .outputs = 4});
  net.add<nn::Dropout>(0.5);
  net.add<Activation>(ActivationKind::gelu);
  const Tensor x = random_tensor({5, 3});
  EXPECT_FALSE(identical(net(Variable(x)).data(), net(Variable(x)).data()));
  net.eval();
  EXPECT_TRUE(identical(net(Variable(x)).data(), net(Variable(x)).data()));
  net.to(DType::f64);
  const Variable leaf = f64_leaf({5, 3});
  expect_gradients(net, {leaf}, [&] { return Variables{net(leaf)}; });
}

TEST(Sequential, without_layers_gives_what_it_gets) {
  nn::Sequential net;
  const Variable x(ones({2}));
  EXPECT_TRUE(net(x).is_same(x));
}
