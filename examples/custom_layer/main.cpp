// A layer of one's own: attention behind a gate, checked against differences and trained. Build it as any
// program that links heed::nn and heed::optim.
#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/linear.h>
#include <heed/nn/norm.h>
#include <heed/optim/adam.h>
#include <heed/tensor/random.h>

#include <cstdio>

using namespace heed;

/// y = x + sigmoid(W_g x) * attention(norm(x)): the gate says, number by number, how much of what attention
/// found is let in.
class GatedAttention : public nn::Layer<GatedAttention> {
 public:
  GatedAttention(int64_t width, int64_t heads)
      : norm_({.width = width}),
        attention_({.width = width, .heads = heads}),
        gate_({.inputs = width, .outputs = width}) {
    child("norm", norm_);
    child("attention", attention_);
    child("gate", gate_);
  }
  Variable forward(const Variable& x, const nn::Mask& mask = {}) {  // x: (batch, length, width)
    return x + sigmoid(gate_(x)) * attention_(norm_(x), mask);
  }

 private:
  nn::LayerNorm norm_;
  nn::MultiHeadAttention attention_;
  nn::Linear gate_;
};

/// False, with the place and both derivatives, when a gradient is wrong.
bool check() {
  GatedAttention layer(8, 2);
  layer.to(DType::f64);
  const Variable x(rand_normal({2, 3, 8}, 0, 1, DType::f64), true);
  std::vector<Variable> inputs{x};
  for (const Variable& parameter : layer.parameters()) inputs.push_back(parameter);
  const GradcheckReport report = gradcheck(
      [&](std::span<const Variable> in) { return std::vector{layer(in[0], nn::Mask::causal_order())}; },
      inputs);
  std::printf(report ? "gradients agree with differences\n" : "wrong: %s\n", report.failure.c_str());
  return static_cast<bool>(report);
}

/// Learns to say, at every place, what stood at the first one.
double train() {
  manual_seed(1);
  constexpr int64_t kWidth = 16, kLength = 8;
  GatedAttention first(kWidth, 2), second(kWidth, 2);
  NamedVariables parameters = first.named_parameters();
  for (auto& [name, parameter] : second.named_parameters())
    parameters.emplace_back("second." + name, parameter);
  optim::Adam optimizer(parameters, {.lr = 0.01});
  double last = 0;
  for (int step = 0; step <= 400; ++step) {
    Tensor x = rand_normal({32, kLength, kWidth}, 0, 0.5);
    x.slice(2, 0, 1).fill(0);
    x.slice(2, 0, 1).slice(1, 0, 1).fill(2);  // marks the first place
    const Variable wanted = x.slice(1, 0, 1).expand({32, kLength, kWidth});
    const Variable loss = (second(first(x)) - wanted).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item();
    if (step % 100 == 0) std::printf("step %3d  loss %.4f\n", step, last);
  }
  return last;
}

int main() { return check() && train() < 0.1 ? 0 : 1; }
