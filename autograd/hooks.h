#pragma once

#include <algorithm>

#include <heed/autograd/node.h>

/// Hooks on the nodes and edges of a graph, beside those on variables (Variable::register_hook). All of them
/// run on the thread that walks the graph, are called in the order in which they were registered, and last as
/// long as their handle: the graph itself does not keep them. So a hook may hold the very variable it hangs
/// on; the circle ends with the handle. Only a handle that is stored inside its own hook never ends.
///
/// For one node a backward pass calls, in this order: the hooks of its output variables, on complete
/// gradients; `before`; the op's own backward; `after`; the hooks of its edges. An exception from a hook ends
/// the pass like any other error (see Variable::backward).
namespace heed {

/// Sees the gradients of one op; either function may be left out. An undefined gradient is one that did not
/// arrive, or that is not wanted. Assigning to a gradient replaces it (ShapeError unless it fits).
struct NodeHook {
  /// The gradients of the op's outputs, before its backward.
  std::function<void(const Node& node, std::span<Variable> output_grads)> before = {};
  /// The gradients that it gave its inputs.
  std::function<void(const Node& node, std::span<Variable> input_grads)> after = {};
};

/// Hangs a hook on the op that made `output`. GraphError when no recorded op did.
[[nodiscard]] HookHandle register_node_hook(const Variable& output, NodeHook hook);

/// Hangs a hook on one edge of the graph: it sees the gradient that the op which made `output` sends to its
/// input number `input`, before that is added to what other ops send there, and may return another one.
/// GraphError when no recorded op made it or when that input needs no gradient.
[[nodiscard]] HookHandle register_edge_hook(const Variable& output, size_t input, GradHook hook);

/// Where the gradient of a value comes to stand: that of the last backward pass that reached the value,
/// undefined before the first and where the value needs none. It is looked at, never replaced, and no longer
/// than the pointer lives. Unlike retain_grad() it does not add up, and the value's own grad() stays as it
/// is.
[[nodiscard]] std::shared_ptr<const Tensor> watch_grad(const Variable& value);

/// The living hooks of one place.
template <class Hook>
class HookList {
 public:
  HookHandle add(Hook hook) {
    auto shared = std::make_shared<Hook>(std::move(hook));
    std::erase_if(hooks_, [](const auto& weak) { return weak.expired(); });
    hooks_.push_back(shared);
    return HookHandle(std::move(shared));
  }

  bool has_any() const {
    return std::ranges::any_of(hooks_, [](const auto& weak) { return !weak.expired(); });
  }

  /// Calls f(hook) for each. A hook may remove hooks, itself too, and register others, which are called the
  /// next time.
  template <class F>
  void for_each(F f) const {
    if (hooks_.empty()) return;
    for (const auto& weak : std::vector(hooks_))
      if (const auto hook = weak.lock()) f(*hook);
  }

 private:
  std::vector<std::weak_ptr<Hook>> hooks_;
};

/// What was asked of a node beside its op. Nodes of which nothing was asked have none.
struct Watch {
  struct Output {
    HookList<GradHook> hooks = {};
    bool retains_grad = false;
    Variable retained = {};
  };

  explicit Watch(const Node& node) : outputs(node.outputs.size()), edges(node.inputs.size()) {}

  std::vector<Output> outputs;
  std::vector<HookList<GradHook>> edges;  // one per input
  HookList<NodeHook> hooks;
};

namespace internal {

HookHandle add_edge_hook(Node& node, size_t input, GradHook hook);

}  // namespace internal
}  // namespace heed
