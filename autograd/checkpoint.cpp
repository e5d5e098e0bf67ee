#include <heed/autograd/checkpoint.h>

#include <algorithm>
#include <cstring>
#include <set>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/engine.h>
#include <heed/autograd/record.h>
#include <heed/tensor/random.h>

namespace heed {
namespace {

thread_local bool runs_again = false;

/// A fingerprint of all numbers (FNV-1a over words).
uint64_t fingerprint(const std::vector<Variable>& outputs) {
  uint64_t hash = 14695981039346656037U;
  const auto add = [&](uint64_t word) { hash = (hash ^ word) * 1099511628211U; };
  for (const Variable& output : outputs) {
    const Tensor numbers = output.data().contiguous();
    const std::byte* bytes = numbers.bytes();
    const auto count = static_cast<size_t>(numbers.numel() * size_of(numbers.dtype()));
    add(count);
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min(sizeof word, count - i));
      add(word);
    }
  }
  return hash;
}

/// What surrounds f: the same in both runs.
struct Surroundings {
  uint64_t seed = default_generator().seed(), position = default_generator().position();
  Scope::Name scope = Scope::current();
};

/// Puts this thread back to where f ran first, and afterwards to where it is now.
class Again {
 public:
  explicit Again(const Surroundings& first) : scope_(first.scope), before_(std::exchange(runs_again, true)) {
    default_generator().restore(first.seed, first.position);
  }
  ~Again() {
    runs_again = before_;
    default_generator().restore(now_.seed, now_.position);
  }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  const Surroundings now_;
  const EnableGrad recording_;
  const Scope scope_;
  const internal::InsideBackward ops_are_forward_{false};
  bool before_;
};

/// The inputs of a run as the ends of its own graph: what arrives at them goes no further. With `graph` they
/// stay connected, for second derivatives.
std::vector<Variable> ends(std::span<const Variable> inputs, bool graph) {
  std::vector<Variable> ends;
  for (const Variable& input : inputs) {
    if (!input.defined() || !input.requires_grad())
      ends.push_back(input);
    else
      ends.push_back(graph ? alias(input) : Variable(input.data(), true));
  }
  return ends;
}

/// The edges that lead out of the graph that f made, to nodes older than `first_number`: the variables that
/// it used.
std::vector<Edge> edges_out(std::span<const Variable> outputs, uint64_t first_number) {
  std::vector<Edge> out;
  std::set<std::pair<const Node*, size_t>> known;
  std::set<const Node*> entered;
  std::vector<const Node*> inside;
  const auto follow = [&](const Edge& edge) {
    const Node* node = edge.node.get();
    if (node == nullptr) return;
    if (node->number() < first_number) {
      if (known.insert({node, edge.index}).second) out.push_back(edge);
    } else if (entered.insert(node).second) {
      inside.push_back(node);
    }
  };
  for (const Variable& output : outputs) follow(output.producer());
  while (!inside.empty()) {
    const Node* node = inside.back();
    inside.pop_back();
    for (const Edge& edge : node->inputs) follow(edge);
  }
  return out;
}

/// A call of f, as its node keeps it.
class Segment {
 public:
  Segment(CheckpointFunction f, std::span<const Variable> inputs) : f_(std::move(f)) {
    for (const Variable& input : inputs) inputs_.push_back(input.defined() ? Saved(input) : Saved());
  }

  /// The first run. Of the graph that it makes only the structure is there, to see what f uses.
  std::vector<Variable> run(std::span<const Variable> inputs) {
    const internal::RecordStructure structure;
    const std::vector<Variable> given = ends(inputs, false);
    const uint64_t first_number = internal::next_node_number();
    std::vector<Variable> outputs = f_(given);
    for (const Variable& output : outputs)
      if (!output.defined()) raise<ValueError>("[checkpoint] the function returned an undefined variable");
    captured_ = edges_out(outputs, first_number);
    std::erase_if(captured_, [&](const Edge& edge) {
      return std::ranges::any_of(given, [&](const Variable& end) {
        return end.requires_grad() && end.producer().node == edge.node;
      });
    });
    numbers_ = fingerprint(outputs);
    return outputs;
  }

  /// What f used without being given it.
  const std::vector<Edge>& captured() const { return captured_; }

  void backward(Backward& back) const {
    std::vector<Variable> inputs;
    for (const Saved& input : inputs_)
      inputs.push_back(back.has_saved(input) ? back.value(input) : Variable());
    const std::vector<Variable> given = ends(inputs, back.create_graph());
    const uint64_t first_number = internal::next_node_number();
    const std::vector<Variable> outputs = run_again(given);
    std::vector<Variable> roots, upstream;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !back.has_grad(i)) continue;
      roots.push_back(outputs[i]);
      upstream.push_back(back.grad(i));
    }
    std::vector<Edge> edges;
    edges.reserve(given.size() + captured_.size());
    for (const Variable& end : given) edges.push_back(end.defined() ? end.producer() : Edge());
    edges.insert(edges.end(), captured_.begin(), captured_.end());
    std::vector<Variable> grads =
        internal::grad_at_border(roots, upstream, edges, first_number, back.create_graph(),
                                 "[checkpoint] the function used other variables when it ran again");
    for (size_t i = 0; i < grads.size(); ++i) back.give(i, [&] { return std::move(grads[i]); });
  }

 private:
  std::vector<Variable> run_again(const std::vector<Variable>& given) const {
    const Again again(surroundings_);
    std::vector<Variable> outputs = f_(given);
    if (fingerprint(outputs) != numbers_)
      raise<GraphError>("[backward of checkpoint] the function gave other numbers when it ran again");
    return outputs;
  }

  CheckpointFunction f_;
  std::vector<Saved> inputs_;
  Surroundings surroundings_;
  std::vector<Edge> captured_;
  uint64_t numbers_ = 0;
};

}  // namespace

bool recomputing() { return runs_again; }

std::vector<Variable> checkpoint(CheckpointFunction f, std::span<const Variable> inputs) {
  if (!grad_enabled()) return f(inputs);
  Segment segment(std::move(f), inputs);
  const std::vector<Variable> outputs = segment.run(inputs);
  std::vector<Tensor> numbers;
  numbers.reserve(outputs.size());
  for (const Variable& output : outputs) numbers.push_back(output.data());

  std::vector<Variable> captured;  // places in the graph, which is all that recording looks at
  for (const Edge& edge : segment.captured()) captured.emplace_back(Tensor(), edge);
  std::vector<const Variable*> all;
  for (const Variable& input : inputs) all.push_back(&input);
  for (const Variable& variable : captured) all.push_back(&variable);
  std::vector<Variable> results =
      record_all("checkpoint", std::move(numbers), all,
                 [segment = std::move(segment)](Backward& back) { segment.backward(back); });
  for (size_t i = 0; i < results.size(); ++i)
    if (!outputs[i].requires_grad()) results[i] = results[i].detach();
  return results;
}

Variable checkpoint(std::function<Variable(const Variable&)> f, const Variable& input) {
  return checkpoint(
      [f = std::move(f)](std::span<const Variable> inputs) { return std::vector{f(inputs[0])}; },
      {&input, 1})[0];
}

}  // namespace heed
