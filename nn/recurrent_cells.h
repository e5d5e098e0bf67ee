#pragma once

#include <heed/nn/activation.h>

/// One step of a recurrent layer. Each cell takes its input already projected, since that can be done for all
/// steps at once. Its point is "state", h after each step, once for each, in the order in which they are
/// made: (batch, hidden), or in a batch of unequal lengths only the rows that still run, from the longest on.
namespace heed::nn {

/// One layer of a gated recurrent unit. With sigma the sigmoid and * elementwise:
///   r = sigma(W_ir x + b_ir + W_hr h + b_hr)        reset
///   z = sigma(W_iz x + b_iz + W_hz h + b_hz)        update
///   n = tanh(W_in x + b_in + r * (W_hn h + b_hn))   candidate
///   h' = (1 - z) * n + z * h
/// Parameters: weight_ih (3 hidden, inputs), weight_hh (3 hidden, hidden), bias_ih, bias_hh (3 hidden), the
/// three gates in the order r, z, n. Cho et al. (2014), with the reset after the product, as in cuDNN.
class GRUCell : public Layer<GRUCell> {
 public:
  using State = Variable;  ///< h
  static constexpr const char* kName = "GRU";

  GRUCell(int64_t inputs, int64_t hidden, bool bias = true);
  /// x (batch, inputs), h (batch, hidden) -> the next h.
  Variable forward(const Variable& x, const Variable& h);
  /// W_i x + b_i for any leading axes: (..., inputs) -> (..., 3 hidden).
  Variable project(const Variable& x) const;
  /// The step from a projected input.
  Variable advance(const Variable& projected, const Variable& h);
  State zero_state(int64_t batch) const;

  int64_t hidden() const { return hidden_; }

 private:
  int64_t hidden_;
  Variable weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

/// One layer of a plain recurrent network, h' = f(W_i x + b_i + W_h h + b_h) with f the tanh or another
/// activation. Parameters: weight_ih (hidden, inputs), weight_hh (hidden, hidden), bias_ih, bias_hh (hidden).
/// Elman, "Finding structure in time" (1990).
class RNNCell : public Layer<RNNCell> {
 public:
  using State = Variable;  ///< h
  static constexpr const char* kName = "RNN";

  RNNCell(int64_t inputs, int64_t hidden, ActivationKind activation = ActivationKind::tanh, bool bias = true);
  /// As those of GRUCell, with projections (..., hidden).
  Variable forward(const Variable& x, const Variable& h);
  Variable project(const Variable& x) const;
  Variable advance(const Variable& projected, const Variable& h);
  State zero_state(int64_t batch) const;

  int64_t hidden() const { return hidden_; }

 private:
  int64_t hidden_;
  ActivationKind activation_;
  Variable weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

/// What an LSTM carries from step to step, (batch, hidden) each: its output and its memory.
struct LSTMState {
  Variable h, c;
};

/// One layer of long short-term memory. With sigma the sigmoid and * elementwise:
///   i = sigma(W_ii x + b_ii + W_hi h + b_hi)   input
///   f = sigma(W_if x + b_if + W_hf h + b_hf)   forget
///   g = tanh(W_ig x + b_ig + W_hg h + b_hg)    candidate
///   o = sigma(W_io x + b_io + W_ho h + b_ho)   output
///   c' = f * c + i * g,  h' = o * tanh(c')
/// Parameters: weight_ih (4 hidden, inputs), weight_hh (4 hidden, hidden), bias_ih, bias_hh (4 hidden), the
/// gates in the order i, f, g, o. Hochreiter, Schmidhuber (1997), with the forget gate of Gers et al. (2000).
class LSTMCell : public Layer<LSTMCell> {
 public:
  using State = LSTMState;
  static constexpr const char* kName = "LSTM";

  LSTMCell(int64_t inputs, int64_t hidden, bool bias = true);
  /// As those of GRUCell, with projections (..., 4 hidden).
  LSTMState forward(const Variable& x, const LSTMState& state);
  Variable project(const Variable& x) const;
  LSTMState advance(const Variable& projected, const LSTMState& state);
  State zero_state(int64_t batch) const;

  int64_t hidden() const { return hidden_; }

 private:
  int64_t hidden_;
  Variable weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

}  // namespace heed::nn
