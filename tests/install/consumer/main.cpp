#include <heed/nn/linear.h>
#include <heed/optim/adam.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

#include <cstdio>

/// A program outside of heed's own tree: fits a line by gradient descent.
int main() {
  using namespace heed;
  nn::Linear line({.inputs = 1, .outputs = 1});
  optim::Adam optimizer(line.named_parameters(), {.lr = 0.05});
  const Tensor x = rand_uniform({64, 1}, -1, 1);
  const Variable y = Variable(x) * 3 + 1;
  double last = 0;
  for (int step = 0; step < 500; ++step) {
    const Variable error = line(x) - y;
    const Variable loss = (error * error).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item();
  }
  std::printf("weight %.3f bias %.3f\n", line.weight().item(), line.bias().item());
  return last < 1e-4 ? 0 : 1;
}
