#include <heed/autograd/function.h>

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace heed {
namespace {

/// The same numbers in the same layout: copies of one handle.
bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.shares_memory(b) && a.dtype() == b.dtype() &&
         a.shape() == b.shape() && a.strides() == b.strides() && a.offset() == b.offset();
}

}  // namespace

const Variable* Function::input_that_is(const Tensor& value) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (&value == &numbers_[i]) return inputs_[i];
  const Variable* found = nullptr;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_same_view(value, numbers_[i]) || (found != nullptr && found->is_same(*inputs_[i]))) continue;
    if (found != nullptr)
      raise<GraphError>(
          "[save] a copy of a tensor that several inputs are: wanted one of forward's arguments");
    found = inputs_[i];
  }
  return found;
}

void Function::save(const Tensor& value, Variable& as) {
  if (inputs_.empty()) raise<GraphError>("[save] wanted a call inside of forward");
  if (!value.defined()) return;
  if (const Variable* input = input_that_is(value))
    kept_.push_back({.as = &as, .input = Saved(*input)});
  else
    kept_.push_back({.as = &as, .value = value});
}

bool Function::wants(size_t input) const {
  if (back_ != nullptr) return back_->wants(input);
  if (inputs_.empty()) raise<GraphError>("[wants] wanted a call inside of forward or backward");
  return input < inputs_.size() && inputs_[input]->requires_grad();
}

namespace internal {

FunctionCall::FunctionCall(const char* name, Function& function, Inputs inputs,
                           std::span<const Tensor> numbers)
    : name_(name), function_(function) {
  function_.inputs_ = inputs;
  function_.numbers_ = numbers;
  for (const Tensor& input : numbers) versions_.push_back(input.version());
}

void FunctionCall::finish(std::span<const Tensor> outputs) {
  if (outputs.empty()) raise<ValueError>("[{}] wanted at least one result of forward, came none", name_);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].defined()) raise<ValueError>("[{}] result {} of forward is undefined", name_, i);
  for (size_t i = 0; i < versions_.size(); ++i) {
    const Tensor& input = function_.numbers_[i];
    if (input.version() != versions_[i])
      raise<ValueError>("[{}] forward edited input {} in place: {}", name_, i, describe(input));
  }
  for (Function::Kept& kept : function_.kept_) {
    if (!kept.value.defined()) continue;
    for (size_t i = 0; i < outputs.size() && !kept.output; ++i)
      if (is_same_view(kept.value, outputs[i])) kept.output = SavedOutput(outputs[i], i);
    if (!kept.output) kept.constant = SavedTensor(kept.value);
  }
}

void FunctionCall::run_backward(const char* name, Function& function, Backward& back, size_t outputs,
                                const BackwardFunction& backward) {
  /// The members hold the saved values for this call only.
  struct Filled {
    Function& function;
    ~Filled() {
      for (Function::Kept& kept : function.kept_) *kept.as = {};
      function.back_ = nullptr;
    }
  } const filled{function};
  function.back_ = &back;
  for (Function::Kept& kept : function.kept_) {
    if (kept.output)
      *kept.as = back.value(*kept.output);
    else if (kept.constant)
      *kept.as = back.value(*kept.constant);
    else
      *kept.as = back.value(kept.input);
  }
  std::vector<Variable> grads;
  for (size_t i = 0; i < outputs; ++i) grads.push_back(back.grad(i));
  std::vector<Variable> results = backward(grads);
  if (results.size() != back.results.size())
    raise<GraphError>("[backward of {}] wanted {} gradients, one per input, came {}", name,
                      back.results.size(), results.size());
  for (size_t i = 0; i < results.size(); ++i) back.give(i, [&] { return std::move(results[i]); });
}

std::vector<Variable> FunctionCall::without_graph_where_no_float(std::vector<Variable> outputs) {
  for (Variable& output : outputs)
    if (!is_floating(output.dtype())) output = output.detach();
  return outputs;
}

const char* FunctionCall::name_of(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = demangled == nullptr ? type.name() : demangled;
  std::free(demangled);
  const size_t end = name.find('<');  // what follows names other types
  const size_t colon = name.rfind("::", end);
  if (colon != std::string::npos) name.erase(0, colon + 2);
  return ::strdup(name.c_str());  // kept for ever: nodes point at it, and may outlive anything
}

}  // namespace internal
}  // namespace heed
