#pragma once

#include <span>

#include <heed/tensor/tensor.h>

namespace heed::study {

/// How much each place of the last layer has of each place that went into the first, if attention were all
/// that mixes places: with A_l the mean of layer l's heads,
///   R = B_L ... B_1,   B_l = (A_l + I) / 2, rows scaled to add up to 1
/// where I stands for the residual connection. weights: those of self-attention layers from the first to the
/// last, (batch, heads, places, places) each -> (batch, places, places). ValueError for none, ShapeError
/// unless they are alike and square. Abnar, Zuidema, "Quantifying attention flow in transformers" (2020).
Tensor rollout(std::span<const Tensor> weights);

/// The same of the weights that matter to a loss: with G_l its gradient to A_l,
///   R = C_L ... C_1,   C_l = I + mean over heads of max(-G_l A_l, 0)
/// so that what counts is attention whose growth makes the loss smaller. Chefer, Gur, Wolf, "Generic
/// attention-model explainability" (2021), who take the gradient of a class score, which is to grow.
Tensor gradient_rollout(std::span<const Tensor> weights, std::span<const Tensor> gradients);

}  // namespace heed::study
