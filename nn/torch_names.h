#pragma once

#include <map>
#include <string>

#include <heed/nn/module.h>

/// Weights that PyTorch trained, as a safetensors file holds them, in a model of ours.
namespace heed::nn {

/// Copies numbers that stand under PyTorch's names into a module. The parts of the module are found by their
/// types, wherever they stand in it; a module of one's own keeps the names that it gave, so a model whose
/// members are called as in PyTorch loads whole:
///   MultiHeadAttention       torch.nn.MultiheadAttention: in_proj_weight and in_proj_bias are split into
///                            q_proj, k_proj and v_proj; q_proj_weight ... where keys or values have a width
///                            of their own
///   TransformerEncoderLayer  self_attn, linear1, linear2, norm1, norm2
///   TransformerDecoderLayer  self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3
///   TransformerEncoder, TransformerDecoder  layers.N, norm (see TransformerOptions::final_norm)
///   GRU, LSTM, RNN           weight_ih_l0, bias_hh_l1_reverse, ...; the gates have one order in both
///   Linear, Embedding, LayerNorm and all others  as they are
/// Numbers are not converted: the state must be of the module's dtype. What a state does not tell has to
/// agree by itself: heads, norm_first, activation, layer_norm_eps.
///
/// When strict, any difference is one ValueError that lists all by PyTorch's names, and the module is left
/// as it was; otherwise what fits is loaded and the differences are returned. One of the names of a parameter
/// that is tied is enough; ValueError if two of them bring different numbers.
StateMismatch load_torch_state_dict(Module& module, const std::map<std::string, Tensor>& state,
                                    bool strict = true);

}  // namespace heed::nn
