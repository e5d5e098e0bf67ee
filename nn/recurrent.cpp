#include <heed/nn/recurrent.h>

#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

/// Which rows still run at each step, and which places are padding; nothing where all rows run to the end.
struct Schedule {
  std::vector<Tensor> active;  // per step: bool (batch), undefined if all rows run
  Tensor padding;              // bool (batch, length, 1), undefined if there is none
};

Schedule make_schedule(const char* name, const Tensor& lengths, int64_t batch, int64_t length) {
  Schedule schedule{std::vector<Tensor>(static_cast<size_t>(length)), {}};
  if (!lengths.defined()) return schedule;
  if (lengths.dtype() != DType::i64 || lengths.shape() != Shape{batch})
    raise<ShapeError>("[{}] wanted lengths i64({},), came {}", name, batch, describe(lengths));
  const auto values = lengths.to_vector<int64_t>();
  Tensor padding = zeros({length, batch}, DType::boolean);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t valid = values[static_cast<size_t>(b)];
    if (valid < 0 || valid > length)
      raise<IndexError>("[{}] wanted lengths in [0, {}], came {}", name, length, valid);
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

const Variable& output_of(const Variable& h) { return h; }
const Variable& output_of(const LSTMState& state) { return state.h; }

bool has_shape(const Variable& h, const Shape& shape) { return h.defined() && h.shape() == shape; }
bool has_shape(const LSTMState& state, const Shape& shape) {
  return has_shape(state.h, shape) && has_shape(state.c, shape);
}

std::string describe(const Variable& h) { return h.defined() ? to_string(h.shape()) : "an undefined one"; }
std::string describe(const LSTMState& state) {
  return fmt::format("{} and {}", describe(state.h), describe(state.c));
}

/// One layer over the sequence, (batch, length, inputs) -> (batch, length, hidden); the state moves on.
/// Backwards a row that has not begun keeps its first state, so that it begins at its own end.
template <class Cell>
Variable run_layer(Cell& cell, const Variable& sequence, const Schedule& schedule, bool backwards,
                   typename Cell::State& state) {
  std::vector<Variable> steps = unstack(cell.project(sequence), 1);
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t t = backwards ? steps.size() - 1 - i : i;
    state = cell.advance(steps[t], state, schedule.active[t]);
    steps[t] = output_of(state);
  }
  return stack(steps, 1);
}

template <class Cell, class Options>
void add_cell(ModuleList<Cell>& cells, int64_t inputs, const Options& options) {
  if constexpr (std::is_same_v<Cell, RNNCell>)
    cells.add(inputs, options.hidden, options.activation, options.bias);
  else
    cells.add(inputs, options.hidden, options.bias);
}

}  // namespace

template <class Cell>
Recurrent<Cell>::Recurrent(const Options& options) : dropout_(options.dropout) {
  if (options.layers < 1)
    raise<ValueError>("[{}] wanted 1 layer or more, came {}", Cell::kName, options.layers);
  for (int64_t i = 0; i < options.layers; ++i) {
    const int64_t inputs = i == 0 ? options.inputs : (options.bidirectional ? 2 : 1) * options.hidden;
    add_cell(layers_, inputs, options);
    if (options.bidirectional) add_cell(reverse_layers_, inputs, options);
  }
  this->child("layers", layers_);
  if (options.bidirectional) this->child("reverse_layers", reverse_layers_);
  this->child("dropout", dropout_);
}

template <class Cell>
auto Recurrent<Cell>::zero_state(int64_t batch) const -> State {
  return State(directions() * layers_.size(), layers_[0].zero_state(batch));
}

template <class Cell>
void Recurrent<Cell>::expect_state(const State& state, int64_t batch) const {
  if (state.size() != directions() * layers_.size())
    raise<ValueError>("[{}] wanted a state for each of {} layers{}, came {}", Cell::kName, layers_.size(),
                      directions() == 2 ? " and 2 directions" : "", state.size());
  const Shape shape{batch, layers_[0].hidden()};
  for (const auto& one : state)
    if (!has_shape(one, shape))
      raise<ShapeError>("[{}] wanted states {}, came {}", Cell::kName, shape, describe(one));
}

template <class Cell>
RecurrentResult<Cell> Recurrent<Cell>::forward(const Variable& x, const Tensor& lengths, State state) {
  if (x.rank() != 3)
    raise<ShapeError>("[{}] wanted x (batch, length, inputs), came {}", Cell::kName, x.shape());
  const int64_t batch = x.size(0), length = x.size(1);
  const Schedule schedule = make_schedule(Cell::kName, lengths, batch, length);
  if (state.empty()) state = zero_state(batch);
  expect_state(state, batch);
  const auto width = static_cast<int64_t>(directions()) * layers_[0].hidden();
  if (length == 0) return {zeros({batch, 0, width}, x.dtype()), std::move(state)};
  // Padding may hold anything, and would reach the gradients of the input's weights as 0 * NaN.
  Variable sequence = schedule.padding.defined() ? masked_fill(x, schedule.padding, 0) : x;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) sequence = dropout_(sequence);
    const size_t slot = directions() * layer;
    Variable output = run_layer(layers_[layer], sequence, schedule, false, state[slot]);
    if (directions() == 2)
      output =
          concat({output, run_layer(reverse_layers_[layer], sequence, schedule, true, state[slot + 1])}, 2);
    sequence = std::move(output);
  }
  if (schedule.padding.defined()) sequence = masked_fill(sequence, schedule.padding, 0);
  return {sequence, std::move(state)};
}

template <class Cell>
Variable Recurrent<Cell>::step(const Variable& x, State& state) {
  if (directions() == 2)
    raise<ValueError>("[{}] wanted one direction to go step by step, came a bidirectional stack",
                      Cell::kName);
  expect_state(state, x.size(0));
  Variable next = x;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) next = dropout_(next);
    state[layer] = layers_[layer](next, state[layer]);
    next = output_of(state[layer]);
  }
  return next;
}

template class Recurrent<GRUCell>;
template class Recurrent<RNNCell>;
template class Recurrent<LSTMCell>;

}  // namespace heed::nn
