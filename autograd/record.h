#pragma once

#include <functional>
#include <initializer_list>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/node.h>

/// How an op enters the graph. An op computes its result with kernels and calls record() with its inputs
/// and a function that turns the gradients of the results into those of the inputs.
namespace heed {

using Inputs = std::span<const Variable* const>;

/// True if an op on these inputs must be recorded.
bool needs_recording(Inputs inputs);

/// The same numbers under a node of their own: its gradient is what those send who use the alias, and no
/// others.
Variable alias(const Variable& x);

namespace internal {

/// Gives the node its inputs and outputs and returns the outputs as variables.
std::vector<Variable> attach(std::shared_ptr<Node> node, std::vector<Tensor> outputs, Inputs inputs);
Variable attach_one(std::shared_ptr<Node> node, Tensor output, Inputs inputs);
[[noreturn]] void raise_freed(const Node& node);
std::vector<Variable> as_constants(std::vector<Tensor> tensors);

/// A node whose backward is a function object that holds the saved values.
template <class F>
class FunctionNode final : public Node {
 public:
  FunctionNode(const char* name, F function) : Node(name), function_(std::move(function)) {}

  void backward(Backward& back) override {
    if (!function_) raise_freed(*this);
    (*function_)(back);
  }
  void release() override { function_.reset(); }

 private:
  std::optional<F> function_;
};

/// The gradients of reference(inputs) as variables of their own graph. Each input is aliased first, so that
/// the same variable given twice gets the gradient of each use by itself.
void differentiate_reference(
    Backward& back, std::span<const Saved> inputs,
    const std::function<std::vector<Variable>(std::span<const Variable>)>& reference);

}  // namespace internal

/// Records an op with one output. `backward(Backward&)` is called at most once unless the graph is kept.
template <class F>
Variable record(const char* name, Tensor output, std::initializer_list<const Variable*> inputs, F backward) {
  const Inputs all(inputs.begin(), inputs.size());
  if (anomaly_enabled()) internal::expect_finite_results(name, {&output, 1}, all);
  if (!needs_recording(all)) return Variable(std::move(output));
  return internal::attach_one(std::make_shared<internal::FunctionNode<F>>(name, std::move(backward)),
                              std::move(output), all);
}

/// Records an op with several outputs.
template <class F>
std::vector<Variable> record_all(const char* name, std::vector<Tensor> outputs, Inputs inputs, F backward) {
  if (anomaly_enabled()) internal::expect_finite_results(name, outputs, inputs);
  if (!needs_recording(inputs)) return internal::as_constants(std::move(outputs));
  return internal::attach(std::make_shared<internal::FunctionNode<F>>(name, std::move(backward)),
                          std::move(outputs), inputs);
}

/// Records an op that has a backward kernel of its own. `kernel_backward(Backward&, inputs)` works on plain
/// Tensors and serves when no graph of the gradients is wanted. `reference(inputs)` composes the same outputs
/// from differentiable ops; second derivatives go through it. `constants`: what else both read (masks, ids)
/// and what, like the inputs, must not be edited until then; undefined ones are left out.
/// `beside_reference(Backward&, inputs)`: what kernel_backward does apart from giving gradients, for the
/// passes in which the reference gives them.
template <class KernelBackward, class Reference>
std::vector<Variable> record_fused(
    const char* name, std::vector<Tensor> outputs, Inputs inputs, KernelBackward kernel_backward,
    Reference reference, std::initializer_list<Tensor> constants = {},
    std::function<void(Backward&, const std::vector<Tensor>&)> beside_reference = {}) {
  if (!needs_recording(inputs)) {
    if (anomaly_enabled()) internal::expect_finite_results(name, outputs, inputs);
    return internal::as_constants(std::move(outputs));
  }
  std::vector<Saved> saved;
  saved.reserve(inputs.size());
  for (const Variable* input : inputs) saved.push_back(input->defined() ? Saved(*input) : Saved());
  std::vector<SavedTensor> unedited;
  for (const Tensor& constant : constants)
    if (constant.defined()) unedited.emplace_back(constant);
  return record_all(
      name, std::move(outputs), inputs,
      [saved = std::move(saved), unedited = std::move(unedited), kernel_backward = std::move(kernel_backward),
       reference = std::move(reference), beside_reference = std::move(beside_reference)](Backward& back) {
        for (const SavedTensor& constant : unedited) back.value(constant);
        if (!back.create_graph()) {
          kernel_backward(back, back.tensors(saved));
          return;
        }
        internal::differentiate_reference(back, saved, reference);
        if (beside_reference) beside_reference(back, back.tensors(saved));
      });
}

}  // namespace heed
