#include <heed/autograd/engine.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

#include <heed/autograd/grad_mode.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>

namespace heed {
namespace {

/// The gradient of one output while it is gathered from its consumers.
struct Gathering {
  Variable sum;
  bool is_ours = false;  // the sum was made here, so it may be added to in place

  void add(Variable grad, bool create_graph) {
    if (!sum.defined()) {
      sum = std::move(grad);
    } else if (is_ours && !create_graph) {
      Tensor total = sum.data();
      kernels::add_into(total, grad.data());
    } else {
      sum = sum + grad;
      is_ours = true;
    }
  }
};

struct Pending {
  Node* node = nullptr;
  std::vector<Gathering> outputs;
};

/// Which gradients to keep, and the nodes that lead to them: what `grad()` wants of a walk.
struct Selection {
  std::map<std::pair<const Node*, size_t>, Variable> captured;
  std::unordered_set<const Node*> needed;
};

class Walk {
 public:
  Walk(BackwardOptions options, Selection* selection) : options_(options), selection_(selection) {}

  void start(const Variable& root, const Variable& upstream) {
    if (upstream.shape() != root.shape() || upstream.dtype() != root.dtype())
      raise<ShapeError>("[backward] wanted an upstream gradient {}, came {}", describe(root.data()),
                        describe(upstream.data()));
    roots_.push_back(root.producer());
    send(root.producer(), upstream);
  }

  void run() {
    const GradMode mode(options_.create_graph);
    while (!pending_.empty()) {
      // The highest number has no unfinished consumer, for those have higher ones.
      Pending next = std::move(pending_.begin()->second);
      pending_.erase(pending_.begin());
      visit(next);
    }
  }

 private:
  void send(const Edge& edge, Variable grad) {
    if (edge.node == nullptr || !grad.defined()) return;
    if (selection_ != nullptr && !selection_->needed.contains(edge.node.get())) return;
    Pending& pending = pending_[edge.node->number()];
    if (pending.node == nullptr) {
      pending.node = edge.node.get();
      pending.outputs.resize(edge.node->outputs.size());
    }
    pending.outputs[edge.index].add(std::move(grad), options_.create_graph);
  }

  /// Hooks, retained gradients and captures, on the complete gradients.
  std::vector<Variable> complete(Pending& pending) {
    std::vector<Variable> grads(pending.outputs.size());
    for (size_t i = 0; i < grads.size(); ++i) {
      Variable& grad = grads[i];
      grad = std::move(pending.outputs[i].sum);
      if (!grad.defined()) continue;
      Node::Output& output = pending.node->outputs[i];
      run_hooks(*pending.node, output, grad);
      if (output.retains_grad) output.retained = output.retained.defined() ? output.retained + grad : grad;
      if (selection_ == nullptr) continue;
      if (const auto place = selection_->captured.find({pending.node, i});
          place != selection_->captured.end())
        place->second = grad;
    }
    return grads;
  }

  static void run_hooks(const Node& node, Node::Output& output, Variable& grad) {
    if (output.hooks.empty()) return;
    std::erase_if(output.hooks, [](const auto& hook) { return hook.expired(); });
    const auto hooks = output.hooks;  // a hook may register others
    for (const auto& weak : hooks) {
      const auto hook = weak.lock();
      if (hook == nullptr) continue;
      Variable replaced = (*hook)(grad);
      if (!replaced.defined()) continue;
      if (replaced.shape() != output.shape || replaced.dtype() != output.dtype)
        raise<ShapeError>("[hook] on an output of {}: wanted {}, came {}", node.name(), describe(grad.data()),
                          describe(replaced.data()));
      grad = std::move(replaced);
    }
  }

  void visit(Pending& pending) {
    Node& node = *pending.node;
    std::vector<Variable> grads = complete(pending);
    // A node that was only to be captured keeps its saved values.
    if (selection_ != nullptr && !leads_on(node)) return;
    Backward back(node, std::move(grads), options_.create_graph,
                  selection_ == nullptr ? nullptr : &selection_->needed);
    node.backward(back);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      expect_fitting(node, i, back.results[i]);
      send(node.inputs[i], std::move(back.results[i]));
    }
    if (!options_.retain_graph && !options_.create_graph) node.release();
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

  BackwardOptions options_;
  Selection* selection_;
  std::vector<Edge> roots_;  // keeps the graph, should a hook let go of it
  std::map<uint64_t, Pending, std::greater<>> pending_;
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
  Walk walk(options, nullptr);
  for (size_t i = 0; i < roots.size(); ++i) walk.start(roots[i], upstream[i]);
  walk.run();
}

}  // namespace internal

std::vector<Variable> grad(std::span<const Variable> outputs, std::span<const Variable> inputs,
                           std::span<const Variable> upstream, GradOptions options) {
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
