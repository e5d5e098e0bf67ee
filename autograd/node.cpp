#include <heed/autograd/node.h>

#include <atomic>

#include <heed/tensor/creation.h>

namespace heed {
namespace {

/// Nodes that nobody holds any more, on their way out. Destroying a node lets go of its inputs' nodes; they
/// are queued here instead of destroyed inside, so that a chain of any length needs no stack.
class Departures {
 public:
  void add(std::shared_ptr<Node> node) {
    queue_.push_back(std::move(node));
    if (busy_) return;
    busy_ = true;
    while (!queue_.empty()) {
      const std::shared_ptr<Node> next = std::move(queue_.back());
      queue_.pop_back();
    }
    busy_ = false;
  }

 private:
  std::vector<std::shared_ptr<Node>> queue_;
  bool busy_ = false;
};

void let_go(std::shared_ptr<Node> node) {
  // Never destroyed: variables with thread or static lifetime may go after it would have.
  thread_local Departures& departures = *new Departures;
  departures.add(std::move(node));
}

std::atomic<uint64_t> next_number = 1;

}  // namespace

Edge& Edge::operator=(Edge other) noexcept {
  std::swap(node, other.node);
  std::swap(index, other.index);
  return *this;
}

Edge::~Edge() {
  if (node.use_count() == 1) let_go(std::move(node));
}

Node::Node(const char* name) : name_(name), number_(next_number.fetch_add(1, std::memory_order_relaxed)) {}

const Variable& Backward::grad(size_t output) {
  Variable& grad = grads_[output];
  if (!grad.defined()) grad = zeros(node_.outputs[output].shape, node_.outputs[output].dtype);
  return grad;
}

const Variable& Backward::value(const Saved& saved) const {
  if (saved.value_.data().version() != saved.version_)
    raise<GraphError>("[backward of {}] a saved value was edited in place after the op ran: {}", node_.name(),
                      describe(saved.value_.data()));
  return saved.value_;
}

Variable Backward::value(const SavedOutput& saved) const {
  if (saved.value_.version() != saved.version_)
    raise<GraphError>("[backward of {}] its result was edited in place after the op ran: {}", node_.name(),
                      describe(saved.value_));
  if (!create_graph_) return Variable(saved.value_);
  return Variable(saved.value_, Edge(node_.shared_from_this(), saved.index_));
}

std::vector<Tensor> Backward::tensors(std::span<const Saved> saved) const {
  std::vector<Tensor> tensors;
  tensors.reserve(saved.size());
  for (const Saved& one : saved) tensors.push_back(one.value_.defined() ? value(one).data() : Tensor());
  return tensors;
}

}  // namespace heed
