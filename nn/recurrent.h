#pragma once

#include <heed/nn/dropout.h>
#include <heed/nn/module.h>

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
  GRUCell(int64_t inputs, int64_t hidden);
  /// x (batch, inputs), h (batch, hidden) -> the next h.
  Variable forward(const Variable& x, const Variable& h);
  /// W_i x + b_i for any leading axes: (..., inputs) -> (..., 3 hidden).
  Variable project(const Variable& x) const;
  /// The step from a projected input; rows where `active` is false keep h.
  Variable advance(const Variable& projected, const Variable& h, const Tensor& active = {}) const;

  int64_t hidden() const { return hidden_; }

 private:
  int64_t hidden_;
  Variable weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

struct GRUOptions {
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t layers = 1;
  double dropout = 0;  ///< between layers
};

/// The state of a recurrent stack: one (batch, hidden) per layer.
using RecurrentState = std::vector<Variable>;

struct GRUResult {
  Variable output;       ///< (batch, length, hidden) of the last layer, zeros beyond each row's length
  RecurrentState state;  ///< after each row's last valid step
};

/// A stack of GRU layers over a sequence.
class GRU : public Layer<GRU> {
 public:
  explicit GRU(const GRUOptions& options);
  /// x (batch, length, inputs); lengths i64 (batch), or undefined if all steps count; the state starts from
  /// zeros if none is given. What stands beyond a row's length changes nothing.
  GRUResult forward(const Variable& x, const Tensor& lengths = {}, RecurrentState state = {});
  /// One step of the whole stack: x (batch, inputs) -> the last layer's output; the state moves on.
  Variable step(const Variable& x, RecurrentState& state);
  RecurrentState zero_state(int64_t batch) const;

 private:
  void expect_state(const RecurrentState& state) const;

  ModuleList<GRUCell> layers_;
  Dropout dropout_;
};

}  // namespace heed::nn
