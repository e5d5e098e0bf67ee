#pragma once

#include <string>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed::study {

/// One way by which gradient comes to a sequence of inputs.
struct FlowPart {
  std::string path;  ///< "query", "key", "value" or "residual"
  Tensor gradient;  ///< (heads, batch, places, width); one head for a residual, and for what is not projected
  Tensor share;  ///< (heads, batch, places): <part, whole> / |whole|^2 at each place, 0 where the whole is 0
  Tensor norm;   ///< (heads, batch, places): |part|
  /// (heads), of the whole sequence: the sum over its places of <part, whole> / sum |whole|^2.
  std::vector<double> total_share = {};
};

/// The gradient that one layer sends to one sequence of its inputs, and how it is made up: the parts add up
/// to the whole, and so the shares of a place to 1. A share is the part's projection on the whole; one that
/// points against it is negative.
///
/// The query of head h, (W_q x)_h, has the gradient dQ_h, and its part is dQ_h W_q,h with the rows of W_q
/// that are the head's; key and value likewise. Where the layer stands in a residual block the sequence is
/// what goes into the block: the part of the residual is the gradient of the sum x + f(x), and if a norm
/// stands before the layer, the other parts are taken back through it.
struct Flow {
  std::string input;  ///< "input", or "memory" for the keys and values of another sequence
  Tensor whole;       ///< (batch, places, width)
  std::vector<FlowPart> parts;
};

/// A path before it is worked out.
struct FlowSource {
  std::string path;
  Tensor input;   ///< (batch, places, inputs): what is projected
  Tensor weight;  ///< (outputs, inputs), or undefined: nothing is projected
  Tensor grad;    ///< (batch, places, outputs): that of the projection
};

/// The part of one source, with the gradient alone. ValueError unless the heads divide the outputs.
FlowPart flow_part(const FlowSource& source, int64_t heads);

/// A residual block: what goes in, (batch, places, width), what its function is given, and what flows past
/// that.
struct ResidualSource {
  Tensor input, branch;
  Tensor sum_grad;     ///< that of input + f(branch)
  Tensor norm_weight;  ///< of the layer norm between input and branch, or undefined: they are the same
  double norm_epsilon = 0;
};

/// Adds the residual's part, and takes the others from the branch back to the input.
void pass_residual(Flow& flow, const ResidualSource& residual);

/// Fills whole, shares and norms from the gradients of the parts.
void complete(Flow& flow);

}  // namespace heed::study
