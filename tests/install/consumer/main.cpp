#include <heed/autograd/graph.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/optim/adam.h>
#include <heed/study/recorder.h>
#include <heed/tensor/random.h>

#include <cmath>
#include <cstdio>

/// A program outside of heed's own tree, which calls each of its libraries: attention learns to average what
/// it reads, and is watched in its last step.
int main() {
  using namespace heed;
  nn::MultiHeadAttention attention({.width = 8, .heads = 2});
  optim::Adam optimizer(attention.named_parameters(), {.lr = 0.01});
  const Variable x = rand_normal({16, 5, 8});  // (batch, length, width)
  const Variable average = mean(x, {1}, true);
  const auto loss_of = [&] { return (attention(x) - average).pow(2).mean(); };
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    loss_of().backward();
    optimizer.step();
  }

  study::Recorder recorder(attention, {"*"});
  const Variable loss = loss_of();
  loss.backward();
  const auto& heads = recorder.record().attention.at(0).heads;
  const size_t nodes = graph_of(std::span(&loss, 1)).nodes.size();
  std::printf("loss %.4f, entropy %.3f and %.3f, %zu nodes\n", loss.item(), heads.at(0).entropy,
              heads.at(1).entropy, nodes);
  // All five places alike: ln 5.
  const bool is_even = std::abs(heads.at(0).entropy - std::log(5)) < 0.01;
  return loss.item() < 0.01 && is_even && nodes > 0 ? 0 : 1;
}
