#include <heed/autograd/hooks.h>

namespace heed {
namespace {

Node& op_behind(const char* caller, const Variable& output) {
  if (output.is_leaf())
    raise<GraphError>("[{}] wanted the result of a recorded op, came {} {}", caller,
                      output.requires_grad() ? "a leaf" : "a constant", describe(output.data()));
  return *output.producer().node;
}

}  // namespace

HookHandle register_node_hook(const Variable& output, NodeHook hook) {
  return op_behind("register_node_hook", output).watched().hooks.add(std::move(hook));
}

HookHandle register_edge_hook(const Variable& output, size_t input, GradHook hook) {
  Node& node = op_behind("register_edge_hook", output);
  if (input >= node.inputs.size())
    raise<GraphError>("[register_edge_hook] {} has {} inputs, came {}", node.name(), node.inputs.size(),
                      input);
  if (node.inputs[input].node == nullptr)
    raise<GraphError>("[register_edge_hook] input {} of {} needs no gradient", input, node.name());
  return internal::add_edge_hook(node, input, std::move(hook));
}

std::shared_ptr<const Tensor> watch_grad(const Variable& value) {
  struct Watched {
    Tensor grad;
    HookHandle hook;
  };
  auto watched = std::make_shared<Watched>();
  if (Variable watchable = value; watchable.requires_grad())
    watched->hook = watchable.register_hook([watcher = std::weak_ptr(watched)](const Variable& grad) {
      if (const auto living = watcher.lock()) living->grad = grad.data();
      return Variable();
    });
  return {watched, &watched->grad};
}

namespace internal {

HookHandle add_edge_hook(Node& node, size_t input, GradHook hook) {
  return node.watched().edges[input].add(std::move(hook));
}

}  // namespace internal
}  // namespace heed
