#include <heed/autograd/ops/gru_cell.h>
#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/nn/init.h>
#include <heed/nn/recurrent.h>
#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

/// Which rows still run at each step, and which places are padding; nothing where all rows run to the end.
struct Schedule {
  std::vector<Tensor> active;  // per step: bool (batch), undefined if all rows run
  Tensor padding;              // bool (batch, length, 1), undefined if there is none
};

Schedule make_schedule(const Tensor& lengths, int64_t batch, int64_t length) {
  Schedule schedule{std::vector<Tensor>(static_cast<size_t>(length)), {}};
  if (!lengths.defined()) return schedule;
  if (lengths.dtype() != DType::i64 || lengths.shape() != Shape{batch})
    raise<ShapeError>("[GRU] wanted lengths i64({},), came {}", batch, describe(lengths));
  const auto values = lengths.to_vector<int64_t>();
  Tensor padding = zeros({length, batch}, DType::boolean);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t valid = values[static_cast<size_t>(b)];
    if (valid < 0 || valid > length)
      raise<IndexError>("[GRU] wanted lengths in [0, {}], came {}", length, valid);
    for (int64_t t = valid; t < length; ++t) {
      padding.set({t, b}, 1);
      Tensor& active = schedule.active[static_cast<size_t>(t)];
      if (!active.defined()) active = ones({batch}, DType::boolean);
      active.set({b}, 0);
      schedule.padding = padding;
    }
  }
  if (schedule.padding.defined()) schedule.padding = padding.transpose(0, 1).unsqueeze(-1);
  return schedule;
}

}  // namespace

GRUCell::GRUCell(int64_t inputs, int64_t hidden) : hidden_(hidden) {
  if (inputs < 1 || hidden < 1)
    raise<ValueError>("[GRU] wanted 1 input and hidden unit or more, came {} and {}", inputs, hidden);
  weight_ih_ = parameter("weight_ih", xavier_uniform({3 * hidden, inputs}));
  weight_hh_ = parameter("weight_hh", xavier_uniform({3 * hidden, hidden}));
  bias_ih_ = parameter("bias_ih", fan_in_uniform({3 * hidden}, hidden));
  bias_hh_ = parameter("bias_hh", fan_in_uniform({3 * hidden}, hidden));
}

Variable GRUCell::project(const Variable& x) const { return linear(x, weight_ih_, bias_ih_); }

Variable GRUCell::advance(const Variable& projected, const Variable& h, const Tensor& active) const {
  return gru_cell(projected, linear(h, weight_hh_, bias_hh_), h, active);
}

Variable GRUCell::forward(const Variable& x, const Variable& h) { return advance(project(x), h); }

GRU::GRU(const GRUOptions& options) : dropout_(options.dropout) {
  if (options.layers < 1) raise<ValueError>("[GRU] wanted 1 layer or more, came {}", options.layers);
  for (int64_t i = 0; i < options.layers; ++i)
    layers_.add(i == 0 ? options.inputs : options.hidden, options.hidden);
  child("layers", layers_);
  child("dropout", dropout_);
}

RecurrentState GRU::zero_state(int64_t batch) const {
  return RecurrentState(layers_.size(), Variable(zeros({batch, layers_[0].hidden()})));
}

void GRU::expect_state(const RecurrentState& state) const {
  if (state.size() != layers_.size())
    raise<ValueError>("[GRU] wanted a state for each of {} layers, came {}", layers_.size(), state.size());
}

GRUResult GRU::forward(const Variable& x, const Tensor& lengths, RecurrentState state) {
  if (x.rank() != 3) raise<ShapeError>("[GRU] wanted x (batch, length, inputs), came {}", x.shape());
  const Schedule schedule = make_schedule(lengths, x.size(0), x.size(1));
  if (state.empty()) state = zero_state(x.size(0));
  expect_state(state);
  if (x.size(1) == 0) return {zeros({x.size(0), 0, layers_[layers_.size() - 1].hidden()}), std::move(state)};
  Variable sequence = x;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) sequence = dropout_(sequence);
    std::vector<Variable> steps = unstack(layers_[layer].project(sequence), 1);
    for (size_t t = 0; t < steps.size(); ++t)
      steps[t] = state[layer] = layers_[layer].advance(steps[t], state[layer], schedule.active[t]);
    sequence = stack(steps, 1);
  }
  if (schedule.padding.defined()) sequence = masked_fill(sequence, schedule.padding, 0);
  return {sequence, std::move(state)};
}

Variable GRU::step(const Variable& x, RecurrentState& state) {
  expect_state(state);
  Variable next = x;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) next = dropout_(next);
    next = state[layer] = layers_[layer](next, state[layer]);
  }
  return next;
}

}  // namespace heed::nn
