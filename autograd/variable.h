#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed {

class Node;
class Variable;

/// Where a value came from: one output of a node. Letting go of a chain of edges is iterative, however
/// long the chain is.
struct Edge {
  std::shared_ptr<Node> node;
  size_t index = 0;

  Edge() = default;
  Edge(std::shared_ptr<Node> from, size_t output) : node(std::move(from)), index(output) {}
  Edge(const Edge&) = default;
  Edge(Edge&&) = default;
  Edge& operator=(Edge other) noexcept;
  ~Edge();
};

/// Sees the complete gradient of a value; returns another one to replace it, or nothing to leave it.
using GradHook = std::function<Variable(const Variable& grad)>;

/// Keeps a hook in place; the hook goes when the handle does.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::shared_ptr<void> hook) : hook_(std::move(hook)) {}
  void remove() { hook_.reset(); }

 private:
  std::shared_ptr<void> hook_;
};

struct BackwardOptions {
  bool retain_graph = false;  ///< keep the saved values for another backward
  /// Record the backward pass itself, for second derivatives; implies retain_graph. A leaf's grad() then
  /// holds a graph that holds the leaf: memory that comes back with zero_grad() and not before. `grad(...)`
  /// makes no such circle.
  bool create_graph = false;
};

/// A Tensor and its place in the graph of operations. A cheap handle: copies are the same variable.
/// Operations on variables of which one requires a gradient are recorded, unless a NoGrad guard lives.
class Variable {
 public:
  /// No variable at all: `defined()` is false.
  Variable() = default;
  /// A constant, or with `requires_grad` a leaf whose gradient will be gathered in `grad()`. Only f32,
  /// f64 and bf16 can require one (DTypeError).
  Variable(Tensor data, bool requires_grad = false);
  /// An output of a recorded operation.
  Variable(Tensor data, Edge producer);

  bool defined() const { return impl_ != nullptr; }
  const Tensor& data() const;
  const Shape& shape() const { return data().shape(); }
  int64_t rank() const { return data().rank(); }
  int64_t size(int64_t axis) const { return data().size(axis); }
  int64_t numel() const { return data().numel(); }
  DType dtype() const { return data().dtype(); }
  double item() const { return data().item(); }
  bool is_same(const Variable& other) const { return impl_ == other.impl_; }
  /// No other handle on this variable lives.
  bool is_sole_handle() const { return impl_.use_count() == 1; }

  bool requires_grad() const;
  /// Only for a leaf: GraphError for the result of an operation.
  void set_requires_grad(bool value);
  bool is_leaf() const;
  /// The gathered gradient of a leaf, or of a variable that retains it; undefined if there is none.
  Variable grad() const;
  void set_grad(Variable grad);
  void zero_grad() { set_grad({}); }
  /// Keeps the gradient of the result of an operation too.
  void retain_grad();
  /// Calls the hook with this variable's complete gradient in each backward pass, in order of registration.
  [[nodiscard]] HookHandle register_hook(GradHook hook);
  /// The same numbers as a constant.
  Variable detach() const;
  /// The output of the node that made this; a null node for a constant.
  const Edge& producer() const;

  /// Adds d(this)/d(leaf) to the grad() of every leaf that this was computed from. Without `upstream`
  /// this must be a single number. GraphError when it needs no gradient or its graph was freed.
  /// All or nothing: when something throws on the way (an op, a hook), every grad() is as it was before. The
  /// saved values that were used by then are gone, though, unless the graph is kept.
  void backward(BackwardOptions options = {}) const;
  void backward(const Variable& upstream, BackwardOptions options = {}) const;

  /// The operations that read best in a chain; all others are free functions.
  Variable matmul(const Variable& other) const;
  Variable pow(double exponent) const;
  Variable exp() const;
  Variable log() const;
  Variable sqrt() const;
  Variable tanh() const;
  Variable sigmoid() const;
  Variable relu() const;
  Variable sum(const Dims& axes = {}, bool keep_axes = false) const;
  Variable mean(const Dims& axes = {}, bool keep_axes = false) const;
  Variable softmax(int64_t axis) const;
  Variable reshape(const Shape& shape) const;
  Variable transpose(int64_t a, int64_t b) const;
  Variable permute(std::initializer_list<int64_t> axes) const;
  Variable expand(const Shape& shape) const;
  Variable slice(int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;
  Variable select(int64_t axis, int64_t index) const;
  Variable squeeze(int64_t axis) const;
  Variable unsqueeze(int64_t axis) const;
  Variable to(DType dtype) const;

  friend Variable operator+(const Variable& a, const Variable& b);
  friend Variable operator-(const Variable& a, const Variable& b);
  friend Variable operator*(const Variable& a, const Variable& b);
  friend Variable operator/(const Variable& a, const Variable& b);
  friend Variable operator+(const Variable& a, double b);
  friend Variable operator-(const Variable& a, double b);
  friend Variable operator*(const Variable& a, double b);
  friend Variable operator/(const Variable& a, double b);
  friend Variable operator+(double a, const Variable& b);
  friend Variable operator-(double a, const Variable& b);
  friend Variable operator*(double a, const Variable& b);
  friend Variable operator/(double a, const Variable& b);
  friend Variable operator-(const Variable& a);
  /// Rebinds this handle to the result; never edits memory.
  Variable& operator+=(const Variable& other) { return *this = *this + other; }
  Variable& operator*=(const Variable& other) { return *this = *this * other; }

 private:
  struct Impl;
  class Leaf;
  Impl& impl() const;

  std::shared_ptr<Impl> impl_;
};

struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused =
      false;  ///< an input that no output depends on gives an undefined gradient, not an error
};

/// The gradients of the outputs, each weighted by its upstream (ones for single numbers when none are
/// given), with respect to the inputs. Touches no `grad()`.
std::vector<Variable> grad(std::span<const Variable> outputs, std::span<const Variable> inputs,
                           std::span<const Variable> upstream = {}, GradOptions options = {});

}  // namespace heed
