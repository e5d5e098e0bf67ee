#include <heed/autograd/record.h>

#include <algorithm>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/backtrace.h>

namespace heed {

bool needs_recording(Inputs inputs) {
  return grad_enabled() &&
         std::ranges::any_of(inputs, [](const Variable* input) { return input->requires_grad(); });
}

Variable alias(const Variable& x) {
  return record("alias", x.data(), {&x}, [](Backward& back) { back.give(0, [&] { return back.grad(); }); });
}

namespace internal {
namespace {

void connect(Node& node, Inputs inputs) {
  node.inputs.reserve(inputs.size());
  for (const Variable* input : inputs) node.inputs.push_back(input->defined() ? input->producer() : Edge());
  if (records_structure_only()) node.release();
  if (anomaly_enabled()) node.set_backtrace(std::make_unique<Backtrace>());
}

void add_output(Node& node, const Tensor& output) {
  node.outputs.push_back({.shape = output.shape(), .dtype = output.dtype()});
}

}  // namespace

Variable attach_one(std::shared_ptr<Node> node, Tensor output, Inputs inputs) {
  connect(*node, inputs);
  add_output(*node, output);
  return Variable(std::move(output), Edge(std::move(node), 0));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): handed over, as above
std::vector<Variable> attach(std::shared_ptr<Node> node, std::vector<Tensor> outputs, Inputs inputs) {
  connect(*node, inputs);
  std::vector<Variable> results;
  results.reserve(outputs.size());
  for (Tensor& output : outputs) {
    add_output(*node, output);
    results.emplace_back(std::move(output), Edge(node, results.size()));
  }
  return results;
}

void raise_freed(const Node& node) {
  raise<GraphError>(
      "[backward of {}] its graph was freed by an earlier backward: pass retain_graph to keep it",
      node.name());
}

std::vector<Variable> as_constants(std::vector<Tensor> tensors) {
  return {std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end())};
}

void differentiate_reference(
    Backward& back, std::span<const Saved> inputs,
    const std::function<std::vector<Variable>(std::span<const Variable>)>& reference) {
  std::vector<Variable> aliases(inputs.size()), wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!back.has_saved(inputs[i])) continue;
    const Variable& input = back.value(inputs[i]);
    aliases[i] = back.wants(i) ? alias(input) : input;
    if (back.wants(i)) wanted.push_back(aliases[i]);
  }
  std::vector<Variable> outputs, upstream;
  std::vector<Variable> all = reference(aliases);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!back.has_grad(i)) continue;
    outputs.push_back(all[i]);
    upstream.push_back(back.grad(i));
  }
  std::vector<Variable> grads =
      heed::grad(outputs, wanted, upstream, {.create_graph = true, .allow_unused = true});
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (back.wants(i)) back.results[i] = std::move(grads[next++]);
}

}  // namespace internal
}  // namespace heed
