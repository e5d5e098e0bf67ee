// An op of one's own: the squared ReLU of So et al., "Primer: searching for efficient transformers" (2021),
// checked against differences and trained. Build it as any program that links heed::nn and heed::optim.
#include <heed/autograd/function.h>
#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/linear.h>
#include <heed/optim/adam.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/random.h>

#include <cstdio>

using namespace heed;

/// y = max(x, 0)^2, dx = 2 max(x, 0) dy
struct SquaredRelu : Function {
  Tensor forward(const Tensor& input) {  // plain numbers: kernels
    save(input, x);
    const Tensor positive = kernels::relu(input);
    return kernels::mul(positive, positive);
  }
  Variable backward(
      const Variable& grad) {  // differentiable ops, so that second derivatives come by themselves
    return grad * 2 * relu(x);
  }
  Variable x;
};

Variable squared_relu(const Variable& x) { return apply<SquaredRelu>(x); }

/// False, with the place and both derivatives, when a gradient is wrong.
bool check() {
  const Variable x(rand_normal({3, 5}, 0, 1, DType::f64), true);
  const auto op = [](std::span<const Variable> in) { return std::vector{squared_relu(in[0])}; };
  for (const GradcheckReport& report :
       {gradcheck(op, std::span(&x, 1)), gradgradcheck(op, std::span(&x, 1))}) {
    if (!report) std::printf("wrong: %s\n", report.failure.c_str());
    if (!report) return false;
  }
  std::printf("gradients and second derivatives agree with differences\n");
  return true;
}

/// Learns y = |x_0| + x_1^2 with two layers and the op between them.
double train() {
  manual_seed(1);
  nn::Linear inner({.inputs = 2, .outputs = 32}), outer({.inputs = 32, .outputs = 1});
  NamedVariables parameters = inner.named_parameters();
  for (auto& [name, parameter] : outer.named_parameters())
    parameters.emplace_back("outer." + name, parameter);
  optim::Adam optimizer(parameters, {.lr = 0.01});
  double last = 0;
  for (int step = 0; step <= 500; ++step) {
    const Variable x = rand_uniform({64, 2}, -1, 1);
    const Variable wanted = abs(x.slice(1, 0, 1)) + x.slice(1, 1, 2).pow(2);  // (64, 1)
    const Variable loss = (outer(squared_relu(inner(x))) - wanted).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item();
    if (step % 100 == 0) std::printf("step %3d  loss %.4f\n", step, last);
  }
  return last;
}

int main() { return check() && train() < 0.02 ? 0 : 1; }
