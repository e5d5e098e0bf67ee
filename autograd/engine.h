#pragma once

#include <heed/autograd/node.h>

namespace heed::internal {

/// Walks the graph from the roots down and gives each leaf its gradient.
void run_backward(std::span<const Variable> roots, std::span<const Variable> upstream,
                  BackwardOptions options);

}  // namespace heed::internal
