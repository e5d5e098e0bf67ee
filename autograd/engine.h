#pragma once

#include <heed/autograd/node.h>

namespace heed::internal {

/// Walks the graph from the roots down and gives each leaf its gradient.
void run_backward(std::span<const Variable> roots, std::span<const Variable> upstream,
                  BackwardOptions options);

/// Walks the part of the graph whose nodes are numbered from `oldest_inside` on, and returns the gradients
/// that leave it along `edges`. Touches nothing outside: no grad(), no hook. GraphError when something leaves
/// it along another edge: "{complaint}: {the op that made it} {its type and shape}".
std::vector<Variable> grad_at_border(std::span<const Variable> roots, std::span<const Variable> upstream,
                                     std::span<const Edge> edges, uint64_t oldest_inside, bool create_graph,
                                     const char* complaint);

}  // namespace heed::internal
