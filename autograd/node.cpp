#include <heed/autograd/node.h>

#include <atomic>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/backtrace.h>
#include <heed/autograd/hooks.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/views.h>
#include <heed/tensor/creation.h>

namespace heed {
namespace {

/// Nodes that nobody holds any more, on their way out. Destroying a node lets go of its inputs' nodes; they
/// are queued here instead of destroyed inside, so that a chain of any length needs no stack.
using Departures = std::vector<std::shared_ptr<Node>>;

void let_go(std::shared_ptr<Node> node) {
  // The queue of the call that is at work on this thread. A plain pointer, because variables with thread or
  // static lifetime may go after anything that has a destructor.
  thread_local Departures* queue = nullptr;
  if (queue != nullptr) {
    queue->push_back(std::move(node));
    return;
  }
  Departures departures;
  queue = &departures;
  while (node != nullptr) {
    node.reset();  // which may queue others
    if (departures.empty()) break;
    node = std::move(departures.back());
    departures.pop_back();
  }
  queue = nullptr;
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

Node::Node(const char* name)
    : name_(name), number_(next_number.fetch_add(1, std::memory_order_relaxed)), scope_(Scope::current()) {}

Node::~Node() = default;

const std::string& Node::scope() const {
  static const std::string none;
  return scope_ == nullptr ? none : *scope_;
}

Watch& Node::watched() {
  if (watch_ == nullptr) watch_ = std::make_unique<Watch>(*this);
  return *watch_;
}

void Node::set_backtrace(std::unique_ptr<internal::Backtrace> calls) { backtrace_ = std::move(calls); }

uint64_t internal::next_node_number() { return next_number.load(std::memory_order_relaxed); }

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

const Tensor& Backward::value(const SavedTensor& saved) const {
  if (saved.value_.version() != saved.version_)
    raise<GraphError>("[backward of {}] a saved value was edited in place after the op ran: {}", node_.name(),
                      describe(saved.value_));
  return saved.value_;
}

Variable Backward::value(const SavedOutput& saved) const {
  if (saved.value_.version() != saved.version_)
    raise<GraphError>("[backward of {}] its result was edited in place after the op ran: {}", node_.name(),
                      describe(saved.value_));
  if (!create_graph_) return Variable(saved.value_);
  return Variable(saved.value_, Edge(node_.shared_from_this(), saved.index_));
}

void Backward::give_product(size_t input, const Variable& left, const Variable& right) {
  if (!wants(input)) return;
  if (create_graph_ || node_.watch() != nullptr || anomaly_enabled())
    results[input] = matmul(transpose(left, 0, 1), right);
  else
    products.emplace_back(input, internal::GradientProduct(left.data(), right.data()));
}

std::vector<Tensor> Backward::tensors(std::span<const Saved> saved) const {
  std::vector<Tensor> tensors;
  tensors.reserve(saved.size());
  for (const Saved& one : saved) tensors.push_back(one.value_.defined() ? value(one).data() : Tensor());
  return tensors;
}

}  // namespace heed
