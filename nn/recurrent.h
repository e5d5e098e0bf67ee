#pragma once

#include <heed/nn/dropout.h>
#include <heed/nn/recurrent_cells.h>

namespace heed::nn {

struct RecurrentOptions {
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t layers = 1;
  double dropout = 0;          ///< between layers
  bool bidirectional = false;  ///< each layer reads backwards too
  bool bias = true;            ///< both of each cell
};

struct RNNOptions {
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t layers = 1;
  double dropout = 0;          ///< between layers
  bool bidirectional = false;  ///< each layer reads backwards too
  bool bias = true;            ///< both of each cell
  ActivationKind activation = ActivationKind::tanh;
};

/// The state of a recurrent stack: one per layer, or two where it is bidirectional: layer 0 forwards, layer 0
/// backwards, layer 1 forwards, ...
using RecurrentState = std::vector<Variable>;

template <class Cell>
struct RecurrentResult {
  Variable output;  ///< (batch, length, hidden) of the last layer, zeros beyond each row's length; (batch,
                    ///< length, 2 hidden), forwards beside backwards, if bidirectional
  std::vector<typename Cell::State> state;  ///< after the last step that each direction reads in each row
};

/// A stack of recurrent layers over a sequence: GRU, RNN or LSTM. The cells are called layers.0, layers.1,
/// ..., and reverse_layers.0, ... those that read backwards, from each row's own end to its begin. Schuster,
/// Paliwal, "Bidirectional recurrent neural networks" (1997).
template <class Cell>
class Recurrent : public Layer<Recurrent<Cell>> {
 public:
  using Options = std::conditional_t<std::is_same_v<Cell, RNNCell>, RNNOptions, RecurrentOptions>;
  using State = std::vector<typename Cell::State>;

  explicit Recurrent(const Options& options);
  /// x (batch, length, inputs); lengths i64 (batch), or undefined if all steps count; the state starts from
  /// zeros if none is given. What stands beyond a row's length changes nothing.
  RecurrentResult<Cell> forward(const Variable& x, const Tensor& lengths = {}, State state = {});
  /// One step of the whole stack: x (batch, inputs) -> the last layer's output; the state moves on.
  /// ValueError for a bidirectional stack, which has to know the end.
  Variable step(const Variable& x, State& state);
  State zero_state(int64_t batch) const;

 private:
  void expect_state(const State& state, int64_t batch) const;
  size_t directions() const { return reverse_layers_.size() == 0 ? 1 : 2; }

  int64_t inputs_;
  ModuleList<Cell> layers_, reverse_layers_;
  Dropout dropout_;
};

extern template class Recurrent<GRUCell>;
extern template class Recurrent<RNNCell>;
extern template class Recurrent<LSTMCell>;

using GRU = Recurrent<GRUCell>;
using GRUOptions = GRU::Options;
using GRUResult = RecurrentResult<GRUCell>;
using RNN = Recurrent<RNNCell>;
using RNNResult = RecurrentResult<RNNCell>;
using LSTM = Recurrent<LSTMCell>;  ///< its state is a vector of LSTMState
using LSTMOptions = LSTM::Options;
using LSTMResult = RecurrentResult<LSTMCell>;

}  // namespace heed::nn
