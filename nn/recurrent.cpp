#include <heed/nn/recurrent.h>

#include <algorithm>
#include <numeric>

#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

/// A batch without its padding: the steps one after the other, of each only the rows that have not ended,
/// from the longest row on, so that the rows of a step are the first of those of the step before.
struct Packing {
  std::vector<int64_t> running;  // rows of each step, up to the last that has any; {0} if none has
  Tensor order, rank;            // i64 (batch): the rows by length, and where each of them stands there
  Tensor places;                 // i64 (rows of all steps): where they lie in (batch * length)
};

std::vector<int64_t> checked_lengths(const char* name, const Tensor& lengths, int64_t batch, int64_t length) {
  if (!lengths.defined()) return std::vector<int64_t>(static_cast<size_t>(batch), length);
  if (lengths.dtype() != DType::i64 || lengths.shape() != Shape{batch})
    raise<ShapeError>("[{}] wanted lengths i64({},), came {}", name, batch, describe(lengths));
  auto values = lengths.to_vector<int64_t>();
  for (const int64_t valid : values)
    if (valid < 0 || valid > length)
      raise<IndexError>("[{}] wanted lengths in [0, {}], came {}", name, length, valid);
  return values;
}

Packing make_packing(const std::vector<int64_t>& lengths, int64_t length) {
  const auto batch = static_cast<int64_t>(lengths.size());
  std::vector<int64_t> order(lengths.size()), rank(lengths.size()), places;
  std::iota(order.begin(), order.end(), 0);
  const auto length_of = [&](int64_t row) { return lengths[static_cast<size_t>(row)]; };
  std::ranges::stable_sort(order, std::ranges::greater(), length_of);
  for (size_t i = 0; i < order.size(); ++i) rank[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Packing packing;
  for (int64_t t = 0; t == 0 || t < length; ++t) {
    const auto ended = std::ranges::partition_point(order, [&](int64_t row) { return length_of(row) > t; });
    if (t > 0 && ended == order.begin()) break;
    packing.running.push_back(ended - order.begin());
    for (auto row = order.begin(); row != ended; ++row) places.push_back(*row * length + t);
  }
  packing.order = from_values<int64_t>(order, {batch});
  packing.rank = from_values<int64_t>(rank, {batch});
  packing.places = from_values<int64_t>(places, {static_cast<int64_t>(places.size())});
  return packing;
}

/// (batch, length, width) -> (rows of all steps, width)
Variable pack(const Variable& x, const Packing& packing) {
  return index_select(x.reshape({x.size(0) * x.size(1), x.size(2)}), 0, packing.places);
}

/// The way back, with zeros for padding.
Variable unpack(const Variable& packed, const Packing& packing, int64_t batch, int64_t length) {
  const int64_t width = packed.size(1);
  return index_add({batch * length, width}, 0, packing.places, packed).reshape({batch, length, width});
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

int64_t rows_of(const Variable& h) { return h.size(0); }
int64_t rows_of(const LSTMState& state) { return state.h.size(0); }

/// The rows in another order.
Variable arranged(const Variable& h, const Tensor& rows) { return index_select(h, 0, rows); }
LSTMState arranged(const LSTMState& state, const Tensor& rows) {
  return {arranged(state.h, rows), arranged(state.c, rows)};
}

/// The first `count` rows, and the others.
std::pair<Variable, Variable> parted(const Variable& h, int64_t count) {
  const int64_t sizes[]{count, h.size(0) - count};
  auto parts = split(h, sizes, 0);
  return {std::move(parts[0]), std::move(parts[1])};
}
std::pair<LSTMState, LSTMState> parted(const LSTMState& state, int64_t count) {
  auto [h, other_h] = parted(state.h, count);
  auto [c, other_c] = parted(state.c, count);
  return {{h, c}, {other_h, other_c}};
}

Variable joined(const Variable& first, const Variable& others) { return concat({first, others}, 0); }
LSTMState joined(const LSTMState& first, const LSTMState& others) {
  return {joined(first.h, others.h), joined(first.c, others.c)};
}

/// One layer over packed steps, (rows of all steps, inputs) -> (rows of all steps, hidden); the state, its
/// rows by length, moves on. Forwards the rows that have ended wait behind those that run, backwards those
/// that have not begun, so that each begins at its own end.
template <class Cell>
Variable run_layer(Cell& cell, const Variable& packed, const Packing& packing, bool backwards,
                   typename Cell::State& state) {
  using State = typename Cell::State;
  std::vector<Variable> steps = split(cell.project(packed), packing.running, 0);
  State waiting;
  bool some_wait = false;
  const auto have_running = [&](int64_t count) {
    if (some_wait && rows_of(state) < count) {
      state = joined(state, waiting);
      some_wait = false;
    }
    if (rows_of(state) == count) return;
    auto [running, others] = parted(state, count);
    state = std::move(running);
    waiting = some_wait ? joined(others, waiting) : std::move(others);
    some_wait = true;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t t = backwards ? steps.size() - 1 - i : i;
    have_running(packing.running[t]);
    state = cell.advance(steps[t], state);
    steps[t] = output_of(state);
  }
  if (some_wait) state = joined(state, waiting);
  return concat(steps, 0);
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
Recurrent<Cell>::Recurrent(const Options& options) : inputs_(options.inputs), dropout_(options.dropout) {
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
  if (x.rank() != 3 || x.size(2) != inputs_)
    raise<ShapeError>("[{}] wanted x (batch, length, {}), came {}", Cell::kName, inputs_, x.shape());
  const int64_t batch = x.size(0), length = x.size(1);
  const Packing packing = make_packing(checked_lengths(Cell::kName, lengths, batch, length), length);
  if (state.empty()) state = zero_state(batch);
  expect_state(state, batch);
  Variable sequence = pack(x, packing);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0) sequence = dropout_(sequence);
    const auto run = [&](Cell& cell, bool backwards) {
      auto& own = state[directions() * layer + (backwards ? 1 : 0)];
      own = arranged(own, packing.order);
      Variable output = run_layer(cell, sequence, packing, backwards, own);
      own = arranged(own, packing.rank);
      return output;
    };
    const Variable output = run(layers_[layer], false);
    sequence = directions() == 1 ? output : concat({output, run(reverse_layers_[layer], true)}, 1);
  }
  return {unpack(sequence, packing, batch, length), std::move(state)};
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
