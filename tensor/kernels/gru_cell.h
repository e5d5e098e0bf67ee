#pragma once

#include <heed/tensor/tensor.h>

namespace heed::kernels {

struct GruCell {
  Tensor h;      ///< (batch, hidden): the next state
  Tensor gates;  ///< (batch, 3 hidden): r, z and n, for the backward
};

/// One step of a gated recurrent unit, in the form of cuDNN and PyTorch. From the projections
/// gx = W_ih x + b_ih and gh = W_hh h + b_hh, both (batch, 3 hidden) in the order r, z, n:
///   r = sigmoid(gx_r + gh_r), z = sigmoid(gx_z + gh_z), n = tanh(gx_n + r gh_n), h' = (1 - z) n + z h
/// Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
GruCell gru_cell(const Tensor& gx, const Tensor& gh, const Tensor& h);

struct GruCellGrads {
  Tensor gx, gh, h;
};

GruCellGrads gru_cell_backward(const Tensor& grad, const Tensor& gh, const Tensor& h, const Tensor& gates);

}  // namespace heed::kernels
