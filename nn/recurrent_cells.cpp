#include <heed/nn/recurrent_cells.h>

#include <heed/autograd/ops/gru_cell.h>
#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/nn/init.h>
#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

void check_sizes(const char* name, int64_t inputs, int64_t hidden) {
  if (inputs < 1 || hidden < 1)
    raise<ValueError>("[{}] wanted 1 input and hidden unit or more, came {} and {}", name, inputs, hidden);
}

}  // namespace

GRUCell::GRUCell(int64_t inputs, int64_t hidden, bool bias) : hidden_(hidden) {
  check_sizes(kName, inputs, hidden);
  weight_ih_ = parameter("weight_ih", xavier_uniform({3 * hidden, inputs}));
  weight_hh_ = parameter("weight_hh", xavier_uniform({3 * hidden, hidden}));
  if (!bias) return;
  bias_ih_ = parameter("bias_ih", fan_in_uniform({3 * hidden}, hidden));
  bias_hh_ = parameter("bias_hh", fan_in_uniform({3 * hidden}, hidden));
}

Variable GRUCell::project(const Variable& x) const { return linear(x, weight_ih_, bias_ih_); }

Variable GRUCell::advance(const Variable& projected, const Variable& h) {
  return point("state", gru_cell(projected, linear(h, weight_hh_, bias_hh_), h));
}

Variable GRUCell::forward(const Variable& x, const Variable& h) { return advance(project(x), h); }

Variable GRUCell::zero_state(int64_t batch) const { return zeros({batch, hidden_}, weight_hh_.dtype()); }

RNNCell::RNNCell(int64_t inputs, int64_t hidden, ActivationKind activation, bool bias)
    : hidden_(hidden), activation_(activation) {
  check_sizes(kName, inputs, hidden);
  weight_ih_ = parameter("weight_ih", xavier_uniform({hidden, inputs}));
  weight_hh_ = parameter("weight_hh", xavier_uniform({hidden, hidden}));
  if (!bias) return;
  bias_ih_ = parameter("bias_ih", fan_in_uniform({hidden}, hidden));
  bias_hh_ = parameter("bias_hh", fan_in_uniform({hidden}, hidden));
}

Variable RNNCell::project(const Variable& x) const { return linear(x, weight_ih_, bias_ih_); }

Variable RNNCell::advance(const Variable& projected, const Variable& h) {
  return point("state", activate(projected + linear(h, weight_hh_, bias_hh_), activation_));
}

Variable RNNCell::forward(const Variable& x, const Variable& h) { return advance(project(x), h); }

Variable RNNCell::zero_state(int64_t batch) const { return zeros({batch, hidden_}, weight_hh_.dtype()); }

LSTMCell::LSTMCell(int64_t inputs, int64_t hidden, bool bias) : hidden_(hidden) {
  check_sizes(kName, inputs, hidden);
  weight_ih_ = parameter("weight_ih", xavier_uniform({4 * hidden, inputs}));
  weight_hh_ = parameter("weight_hh", xavier_uniform({4 * hidden, hidden}));
  if (!bias) return;
  bias_ih_ = parameter("bias_ih", fan_in_uniform({4 * hidden}, hidden));
  bias_hh_ = parameter("bias_hh", fan_in_uniform({4 * hidden}, hidden));
}

Variable LSTMCell::project(const Variable& x) const { return linear(x, weight_ih_, bias_ih_); }

LSTMState LSTMCell::advance(const Variable& projected, const LSTMState& state) {
  const int64_t sizes[]{hidden_, hidden_, hidden_, hidden_};
  const auto gates = split(projected + linear(state.h, weight_hh_, bias_hh_), sizes, 1);
  const Variable input = gates[0].sigmoid(), forget = gates[1].sigmoid(), candidate = gates[2].tanh(),
                 output = gates[3].sigmoid();
  const Variable memory = forget * state.c + input * candidate;
  return {point("state", output * memory.tanh()), memory};
}

LSTMState LSTMCell::forward(const Variable& x, const LSTMState& state) { return advance(project(x), state); }

LSTMState LSTMCell::zero_state(int64_t batch) const {
  const Tensor nothing = zeros({batch, hidden_}, weight_hh_.dtype());
  return {nothing, nothing};
}

}  // namespace heed::nn
