#include <heed/autograd/engine.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_set>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/gathering.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/hooks.h>
#include <heed/tensor/creation.h>

namespace heed {
namespace {

using internal::Gathering, internal::GradientProduct;

struct Pending {
  Node* node = nullptr;
  std::vector<Gathering> outputs;
};

/// Which gradients to keep, and the nodes that lead to them: what `grad()` wants of a walk.
struct Selection {
  std::map<std::pair<const Node*, size_t>, Variable> captured;
  std::unordered_set<const Node*> needed;
};

/// Where a walk over a part of a graph ends: at all nodes that are older than the part. What arrives there is
/// gathered and goes no further; nodes beyond are not touched.
struct Border {
  uint64_t oldest_inside = 0;
  std::map<std::pair<const Node*, size_t>, Gathering> arrived;
};

/// ShapeError unless what a hook made fits: "[hook] {where} {op}: ...".
void expect_like(const Variable& grad, const Node::Output& wanted, const char* where, const Node& node) {
  if (grad.shape() != wanted.shape || grad.dtype() != wanted.dtype)
    raise<ShapeError>("[hook] {} {}: wanted {}{}, came {}", where, node.name(), name_of(wanted.dtype),
                      wanted.shape, describe(grad.data()));
}

/// Calls the hooks of one value in turn, each on what the last one made of the gradient.
void call_hooks(const HookList<GradHook>& hooks, Variable& grad, const Node::Output& wanted,
                const char* where, const Node& node) {
  hooks.for_each([&](const GradHook& hook) {
    Variable replaced = hook(grad);
    if (!replaced.defined()) return;
    expect_like(replaced, wanted, where, node);
    grad = std::move(replaced);
  });
}

class Walk {
 public:
  explicit Walk(BackwardOptions options, Selection* selection = nullptr, Border* border = nullptr)
      : options_(options), selection_(selection), border_(border) {}

  void start(const Variable& root, const Variable& upstream) {
    if (upstream.shape() != root.shape() || upstream.dtype() != root.dtype())
      raise<ShapeError>("[backward] wanted an upstream gradient {}, came {}", describe(root.data()),
                        describe(upstream.data()));
    roots_.push_back(root.producer());
    send(root.producer(), upstream);
  }

  void run() {
    const GradMode mode(options_.create_graph);
    const internal::InsideBackward inside;
    while (!pending_.empty()) {
      // The highest number has no unfinished consumer, for those have higher ones.
      Pending next = std::move(pending_.begin()->second);
      pending_.erase(pending_.begin());
      visit(next);
    }
    deliver();
  }

 private:
  void send(const Edge& edge, Variable grad) {
    if (edge.node == nullptr || !grad.defined()) return;
    if (selection_ != nullptr && !selection_->needed.contains(edge.node.get())) return;
    gathering(edge).add(std::move(grad), options_.create_graph);
  }

  /// Where the gradients of a value are gathered.
  Gathering& gathering(const Edge& edge) {
    if (border_ != nullptr && edge.node->number() < border_->oldest_inside)
      return border_->arrived[{edge.node.get(), edge.index}];
    Pending& pending = pending_[edge.node->number()];
    if (pending.node == nullptr) {
      pending.node = edge.node.get();
      pending.outputs.resize(edge.node->outputs.size());
    }
    return pending.outputs[edge.index];
  }

  /// Hooks, retained gradients and captures, on the complete gradients.
  std::vector<Variable> complete(Pending& pending) {
    Node& node = *pending.node;
    std::vector<Variable> grads(pending.outputs.size());
    for (size_t i = 0; i < grads.size(); ++i) {
      Variable& grad = grads[i];
      grad = pending.outputs[i].take();
      if (!grad.defined()) continue;
      if (node.watch() != nullptr)
        call_hooks(node.watch()->outputs[i].hooks, grad, node.outputs[i], "on an output of", node);
      if (anomaly_enabled()) internal::expect_finite_grad(node, "the gradient of output", i, grad);
      if (node.watch() != nullptr && node.watch()->outputs[i].retains_grad)
        retained_.push_back({&node, i, grad});
      if (selection_ == nullptr) continue;
      if (const auto place = selection_->captured.find({&node, i}); place != selection_->captured.end())
        place->second = grad;
    }
    return grads;
  }

  void visit(Pending& pending) {
    Node& node = *pending.node;
    std::vector<Variable> grads = complete(pending);
    // A node that was only to be captured keeps its saved values.
    if (selection_ != nullptr && !leads_on(node)) return;
    if (node.inputs.empty()) {
      leaves_.emplace_back(&node, std::move(grads));
      return;
    }
    if (node.watch() != nullptr) call_before(node, grads);
    Backward back = backward(node, std::move(grads));
    if (node.watch() != nullptr) call_after(node, back.results);
    for (size_t i = 0; i < node.inputs.size(); ++i) send_along(node, i, std::move(back.results[i]));
    for (auto& [input, product] : back.products) gathering(node.inputs[input]).add(std::move(product));
    if (!options_.retain_graph && !options_.create_graph) node.release();
  }

  Backward backward(Node& node, std::vector<Variable> grads) {
    std::optional<Scope> scope;
    if (options_.create_graph) scope.emplace(node.scope_name());
    Backward back(node, std::move(grads), options_.create_graph,
                  selection_ == nullptr ? nullptr : &selection_->needed);
    node.backward(back);
    for (size_t i = 0; i < node.inputs.size(); ++i) expect_fitting(node, i, back.results[i]);
    return back;
  }

  void call_before(const Node& node, std::vector<Variable>& grads) {
    node.watch()->hooks.for_each([&](const NodeHook& hook) {
      if (!hook.before) return;
      hook.before(node, grads);
      for (size_t i = 0; i < grads.size(); ++i)
        if (grads[i].defined()) expect_like(grads[i], node.outputs[i], "before the backward of", node);
    });
  }

  void call_after(const Node& node, std::vector<Variable>& results) {
    node.watch()->hooks.for_each([&](const NodeHook& hook) {
      if (!hook.after) return;
      hook.after(node, results);
      for (size_t i = 0; i < results.size(); ++i) {
        const Edge& edge = node.inputs[i];
        if (edge.node != nullptr && results[i].defined())
          expect_like(results[i], edge.node->outputs[edge.index], "after the backward of", node);
      }
    });
  }

  void send_along(const Node& node, size_t input, Variable grad) {
    const Edge& edge = node.inputs[input];
    if (edge.node == nullptr || !grad.defined()) return;
    if (node.watch() != nullptr)
      call_hooks(node.watch()->edges[input], grad, edge.node->outputs[edge.index], "on an input of", node);
    if (anomaly_enabled()) internal::expect_finite_grad(node, "the gradient of input", input, grad);
    send(edge, std::move(grad));
  }

  /// The end of a walk that went well: only now do leaves and retained gradients change.
  void deliver() {
    for (const auto& [node, output, grad] : retained_) {
      Variable& retained = node->watched().outputs[output].retained;
      retained = retained.defined() ? retained + grad : grad;
    }
    for (auto& [node, grads] : leaves_) {
      Backward back(*node, std::move(grads), options_.create_graph);
      node->backward(back);
    }
  }

  bool leads_on(const Node& node) const {
    return std::ranges::any_of(
        node.inputs, [&](const Edge& edge) { return selection_->needed.contains(edge.node.get()); });
  }

  static void expect_fitting(const Node& node, size_t input, const Variable& grad) {
    const Edge& edge = node.inputs[input];
    if (edge.node == nullptr || !grad.defined()) return;
    const Node::Output& wanted = edge.node->outputs[edge.index];
    if (grad.shape() != wanted.shape || grad.dtype() != wanted.dtype)
      raise<ShapeError>("[backward of {}] wanted {}{} as the gradient of input {}, came {}", node.name(),
                        name_of(wanted.dtype), wanted.shape, input, describe(grad.data()));
  }

  struct Retained {
    Node* node;
    size_t output;
    Variable grad;
  };

  BackwardOptions options_;
  Selection* selection_;
  Border* border_;
  std::vector<Edge> roots_;  // keeps the graph, should a hook let go of it
  std::map<uint64_t, Pending, std::greater<>> pending_;
  std::vector<Retained> retained_;
  std::vector<std::pair<Node*, std::vector<Variable>>> leaves_;
};

/// The nodes from which one of `targets` can be reached, found without recursion: a node is entered,
/// then its inputs, then left, when it is known whether any of them leads on. What is older than every target
/// cannot lead to one, so the search does not go far beyond them.
std::unordered_set<const Node*> leading_to(std::span<const Variable> outputs,
                                           const std::unordered_set<const Node*>& targets) {
  std::unordered_set<const Node*> leads, entered;
  std::vector<std::pair<const Node*, size_t>> path;
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  for (const Node* target : targets) oldest = std::min(oldest, target->number());
  const auto enter = [&](const Node* node) {
    if (node == nullptr || node->number() < oldest || !entered.insert(node).second) return;
    if (targets.contains(node)) leads.insert(node);
    path.emplace_back(node, 0);
  };
  for (const Variable& output : outputs) {
    enter(output.producer().node.get());
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < node->inputs.size()) {
        enter(node->inputs[next++].node.get());
        continue;
      }
      for (const Edge& edge : node->inputs)
        if (leads.contains(edge.node.get())) leads.insert(node);
      path.pop_back();
    }
  }
  return leads;
}

void expect_saved_values() {
  if (internal::records_structure_only())
    raise<GraphError>("[checkpoint] gradients cannot be taken inside of the function that is checkpointed");
}

Variable upstream_of(const Variable& output, std::span<const Variable> upstream, size_t i) {
  if (!upstream.empty() && upstream[i].defined()) return upstream[i];
  if (output.numel() != 1)
    raise<GraphError>("[grad] output {} is no single number and has no upstream gradient: {}", i,
                      describe(output.data()));
  return ones_like(output.data());
}

}  // namespace

namespace internal {

void run_backward(std::span<const Variable> roots, std::span<const Variable> upstream,
                  BackwardOptions options) {
  expect_saved_values();
  Walk walk(options);
  for (size_t i = 0; i < roots.size(); ++i) walk.start(roots[i], upstream[i]);
  walk.run();
}

std::vector<Variable> grad_at_border(std::span<const Variable> roots, std::span<const Variable> upstream,
                                     std::span<const Edge> edges, uint64_t oldest_inside, bool create_graph,
                                     const char* complaint) {
  Border border{.oldest_inside = oldest_inside, .arrived = {}};
  for (const Edge& edge : edges) border.arrived[{edge.node.get(), edge.index}];
  const auto known = border.arrived;
  Walk walk({.create_graph = create_graph}, nullptr, &border);
  for (size_t i = 0; i < roots.size(); ++i) walk.start(roots[i], upstream[i]);
  walk.run();
  for (auto& [place, gathered] : border.arrived)
    if (!known.contains(place))
      raise<GraphError>("{}: {} {}", complaint, place.first->name(), describe(gathered.take().data()));
  std::vector<Variable> grads;
  for (const Edge& edge : edges) grads.push_back(border.arrived[{edge.node.get(), edge.index}].take());
  return grads;
}

}  // namespace internal

std::vector<Variable> grad(std::span<const Variable> outputs, std::span<const Variable> inputs,
                           std::span<const Variable> upstream, GradOptions options) {
  expect_saved_values();
  if (!upstream.empty() && upstream.size() != outputs.size())
    raise<GraphError>("[grad] wanted {} upstream gradients, one per output, came {}", outputs.size(),
                      upstream.size());
  Selection selection;
  std::unordered_set<const Node*> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad())
      raise<GraphError>("[grad] input {} needs no gradient: {}", i, describe(inputs[i].data()));
    const Edge& edge = inputs[i].producer();
    targets.insert(edge.node.get());
    selection.captured[{edge.node.get(), edge.index}];
  }
  selection.needed = leading_to(outputs, targets);
  Walk walk({.retain_graph = options.retain_graph, .create_graph = options.create_graph}, &selection);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].requires_grad()) walk.start(outputs[i], upstream_of(outputs[i], upstream, i));
  walk.run();

  std::vector<Variable> grads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge& edge = inputs[i].producer();
    grads.push_back(selection.captured[{edge.node.get(), edge.index}]);
    if (!grads.back().defined() && !options.allow_unused)
      raise<GraphError>("[grad] no output depends on input {}: {}", i, describe(inputs[i].data()));
  }
  return grads;
}

}  // namespace heed
