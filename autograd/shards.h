#pragma once

#include <functional>
#include <span>
#include <vector>

#include <heed/autograd/variable.h>

namespace heed {

struct ShardOptions {
  /// As many shards at once as there are threads, each on one of them. Else one after the other, each with
  /// all threads in its ops: for a model of large ops when there are more threads than shards.
  bool together = true;
};

/// Data parallelism in one process: computes loss(0), ..., loss(shards - 1), each with its own backward pass,
/// and adds the gradient of their sum to the grad() of each parameter. Returns the losses. In place of
/// `loss.backward()` for a loss that is a sum over the rows of a batch, each shard with some of the rows; for
/// a mean over n targets a shard with n_i of them gives its own mean times n_i / n.
///
/// The threads meet once a step instead of once in every large op, so a small model gains most. It costs the
/// memory of one gradient of all parameters per shard.
///
///   - The numbers follow from the shards, not from how many threads there are: gradients are added in the
///     order of the shards, and what a shard draws from default_generator() follows from the caller's
///     generator and the shard's number. One shard is loss(0).backward(), bit for bit and in all that it
///     reaches.
///   - All or nothing: when one throws, every grad() is as it was before, and the exception of the first
///     shard that did is thrown here.
///   - `loss` runs on several threads. It must not change what they share, and has to compute from the
///     parameters on: GraphError when it goes on from a result that was recorded before the call, or reaches
///     another leaf.
///   - A hook would be called by all of them at once, each with a part of the batch: with hooks on a
///     parameter (GraphError here) or on a module, or edits (GraphError in its call), ask for one shard.
///
/// ValueError for less than one shard; GraphError for a parameter that is no leaf, needs no gradient or comes
/// twice, and for a loss that is no single number or needs no gradient.
std::vector<double> sharded_backward(std::span<const Variable> parameters, int64_t shards,
                                     const std::function<Variable(int64_t shard)>& loss,
                                     ShardOptions options = {});

namespace internal {

/// True if this thread computes one of several shards.
bool inside_shard();

}  // namespace internal
}  // namespace heed
