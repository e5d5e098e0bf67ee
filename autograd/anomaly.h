#pragma once

#include <span>
#include <string>
#include <vector>

#include <heed/autograd/node.h>

namespace heed {

/// Looks for the first number that is not finite while it lives, on this thread: every op's results as they
/// are made, and every gradient as it is handed on. It ends the computation with an AnomalyError. Slow, as
/// all numbers are read once more and the calls that lead to each op are kept. When it is off it costs one
/// test per op.
///
/// What counts as an anomaly:
///   - NaN in a result, whether the op made it or passed it on. NaN that a mask hides is none.
///   - An infinity in a result, unless an input of the op holds one too, or the op was told to make it
///     (masked_fill with -infinity), or an AllowInfinity guard lives.
///   - In a backward pass, NaN or infinity in a gradient, in the sum of several, or in what a hook made of
///   one.
/// Name the ops of the forward pass by having the mode on there too, not only around backward().
class AnomalyMode {
 public:
  explicit AnomalyMode(bool enabled = true);
  ~AnomalyMode();
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  bool before_;
};

/// True if anomaly mode is on for this thread.
bool anomaly_enabled();

/// Says that results may be infinite while it lives, as that of log(0) where a mask hides it afterwards. NaN
/// is an anomaly all the same, and so is an infinite gradient.
class AllowInfinity {
 public:
  explicit AllowInfinity(bool allowed = true);
  ~AllowInfinity();
  AllowInfinity(const AllowInfinity&) = delete;
  AllowInfinity& operator=(const AllowInfinity&) = delete;

 private:
  bool before_;
};

/// A number that is not finite. The message names the op, its scope, the value and its place, and the
/// calls that led to the op, innermost first.
class AnomalyError : public Error {
 public:
  AnomalyError(const std::string& finding, std::string op, std::string scope,
               std::vector<std::string> backtrace);

  const std::string& op() const { return op_; }
  const std::string& scope() const { return scope_; }
  /// One line per call; empty when the op was recorded before the mode was on.
  const std::vector<std::string>& backtrace() const { return backtrace_; }

 private:
  std::string op_, scope_;
  std::vector<std::string> backtrace_;
};

namespace internal {

/// True while an AllowInfinity guard lives on this thread.
bool infinity_allowed();
/// AnomalyError for the results of an op that has just run.
void expect_finite_results(const char* op, std::span<const Tensor> outputs,
                           std::span<const Variable* const> inputs);
/// AnomalyError for a gradient of a node's op: `what` says which, "the gradient of input {place}".
void expect_finite_grad(const Node& node, const char* what, size_t place, const Variable& grad);

/// A backward pass is under way while it lives: ops that run are parts of an op's backward, or of the engine,
/// and what they make is told as the gradient of the op they serve.
class InsideBackward {
 public:
  explicit InsideBackward(bool inside = true);
  ~InsideBackward();
  InsideBackward(const InsideBackward&) = delete;
  InsideBackward& operator=(const InsideBackward&) = delete;

 private:
  bool before_;
};

}  // namespace internal
}  // namespace heed
