#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <heed/autograd/gathering.h>
#include <heed/autograd/scope.h>
#include <heed/autograd/variable.h>

namespace heed {

class Backward;
struct Watch;
namespace internal {
class Backtrace;
}

/// One recorded operation: how the gradients of its outputs become those of its inputs.
class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(const char* name);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// The op's name, as in "matmul".
  const char* name() const { return name_; }
  /// Nodes are numbered when they are made. A consumer is made after what it consumes, so going through
  /// nodes from the highest number down is a topological order, without a look at the graph first.
  uint64_t number() const { return number_; }
  /// The scope that was open when the op ran; "" outside of all.
  const std::string& scope() const;
  const Scope::Name& scope_name() const { return scope_; }

  virtual void backward(Backward& back) = 0;
  /// Lets go of the saved values; a second backward is then an error.
  virtual void release() {}

  /// One output: what its gradient must look like.
  struct Output {
    Shape shape;
    DType dtype = DType::f32;
  };
  std::vector<Edge> inputs;
  std::vector<Output> outputs;

  /// Hooks and retained gradients; null when nobody asked for any.
  Watch* watch() const { return watch_.get(); }
  /// The same, made at the first call; the inputs and outputs must be known.
  Watch& watched();
  /// The calls that led to the op; null unless it ran in anomaly mode.
  const internal::Backtrace* backtrace() const { return backtrace_.get(); }
  void set_backtrace(std::unique_ptr<internal::Backtrace> calls);

 private:
  const char* name_;
  uint64_t number_;
  Scope::Name scope_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<internal::Backtrace> backtrace_;
};

namespace internal {

/// The number that the next node will have.
uint64_t next_node_number();

}  // namespace internal

/// A value kept for the backward pass. It must not have been edited when it is used (GraphError).
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Variable& value) : value_(value), version_(value.data().version()) {}
  /// Saves the value only where `needed`.
  Saved(const Variable& value, bool needed) {
    if (needed) *this = Saved(value);
  }

 private:
  friend class Backward;
  Variable value_;
  uint64_t version_ = 0;
};

/// A tensor without a gradient that the backward pass reads (a mask, ids), under the same rule.
class SavedTensor {
 public:
  explicit SavedTensor(Tensor value) : value_(std::move(value)), version_(value_.version()) {}

 private:
  friend class Backward;
  Tensor value_;
  uint64_t version_;
};

/// An output of the node itself, kept as a Tensor: a Variable would hold its own node for ever.
class SavedOutput {
 public:
  explicit SavedOutput(Tensor value, size_t index = 0)
      : value_(std::move(value)), version_(value_.version()), index_(index) {}

 private:
  friend class Backward;
  Tensor value_;
  uint64_t version_;
  size_t index_;
};

/// What a node's backward works with: the gradients of its outputs, and where those of its inputs go.
class Backward {
 public:
  /// Only the gradients of inputs from `needed` nodes are wanted; of all inputs if that is null.
  Backward(Node& node, std::vector<Variable> grads, bool create_graph,
           const std::unordered_set<const Node*>* needed = nullptr)
      : node_(node),
        grads_(std::move(grads)),
        create_graph_(create_graph),
        needed_(needed),
        results(node.inputs.size()) {}

  /// The gradient of one output; zeros when none arrived.
  const Variable& grad(size_t output = 0);
  /// True if a gradient arrived for this output.
  bool has_grad(size_t output) const { return grads_[output].defined(); }
  /// Takes the gradient away, so that its memory may be reused.
  Variable take_grad(size_t output = 0) { return std::move(grads_[output]); }
  /// True if the gradients themselves will be differentiated.
  bool create_graph() const { return create_graph_; }

  bool has_saved(const Saved& saved) const { return saved.value_.defined(); }
  /// A saved value, or GraphError if it was edited since it was saved.
  const Variable& value(const Saved& saved) const;
  Variable value(const SavedOutput& saved) const;
  const Tensor& value(const SavedTensor& saved) const;
  /// The tensors of several saved values; undefined where nothing was saved.
  std::vector<Tensor> tensors(std::span<const Saved> saved) const;

  /// True if the gradient of this input is wanted; what is not wanted must cost nothing.
  bool wants(size_t input) const {
    const Node* from = node_.inputs[input].node.get();
    return from != nullptr && (needed_ == nullptr || needed_->contains(from));
  }
  /// Hands over the gradient of an input, computed only if it is wanted: `back.give(0, [&] { return ...; })`.
  template <class F>
  void give(size_t input, F&& compute) {
    if (wants(input)) results[input] = compute();
  }
  /// Hands over the gradient of a matrix as left^T right, of left (rows, m) and right (rows, n): where the
  /// matrix takes part in many products of few rows, the engine multiplies many of them at once. It is
  /// multiplied here if somebody looks at this node's gradients: a hook, the anomaly mode, a graph of the
  /// gradient.
  void give_product(size_t input, const Variable& left, const Variable& right);

 private:
  Node& node_;
  std::vector<Variable> grads_;
  bool create_graph_;
  const std::unordered_set<const Node*>* needed_;

 public:
  std::vector<Variable> results;
  std::vector<std::pair<size_t, internal::GradientProduct>> products;  // of inputs without a result
};

}  // namespace heed
