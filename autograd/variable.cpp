#include <heed/autograd/variable.h>

#include <heed/autograd/engine.h>
#include <heed/autograd/hooks.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>

namespace heed {

struct Variable::Impl {
  Tensor data;
  Edge producer;
  Variable grad;
};

/// The node of a leaf: what arrives is added to the leaf's grad. The leaf owns it, and not the other way
/// round.
class Variable::Leaf final : public Node {
 public:
  explicit Leaf(const std::shared_ptr<Impl>& owner) : Node("leaf"), owner_(owner) {
    outputs.push_back({.shape = owner->data.shape(), .dtype = owner->data.dtype()});
  }

  void backward(Backward& back) override {
    const std::shared_ptr<Impl> owner = owner_.lock();
    if (owner == nullptr) return;  // nobody is left who could look at the gradient
    Variable arrived = back.take_grad();
    if (!arrived.defined()) return;
    if (!owner->grad.defined()) {
      owner->grad = back.create_graph() || shares_nothing(arrived) ? std::move(arrived)
                                                                   : Variable(arrived.data().clone());
    } else if (!back.create_graph() && shares_nothing(owner->grad)) {
      Tensor sum = owner->grad.data();
      kernels::add_into(sum, arrived.data());
    } else {
      owner->grad = owner->grad + arrived;
    }
  }

 private:
  /// True if a gradient may be added to in place: neither a graph nor another holder would see it change.
  static bool shares_nothing(const Variable& grad) {
    return !grad.requires_grad() && grad.is_sole_handle() && grad.data().is_sole_owner() &&
           grad.data().is_contiguous();
  }

  std::weak_ptr<Impl> owner_;
};

Variable::Variable(Tensor data, bool requires_grad) {
  if (!data.defined()) raise<ValueError>("[variable] wanted a tensor, came an undefined one");
  impl_ = std::make_shared<Impl>(Impl{std::move(data), {}, {}});
  if (requires_grad) set_requires_grad(true);
}

Variable::Variable(Tensor data, Edge producer)
    : impl_(std::make_shared<Impl>(Impl{std::move(data), std::move(producer), {}})) {}

Variable::Impl& Variable::impl() const {
  if (impl_ == nullptr) raise<ValueError>("[variable] wanted a variable, came an undefined one");
  return *impl_;
}

const Tensor& Variable::data() const { return impl().data; }
const Edge& Variable::producer() const { return impl().producer; }
bool Variable::requires_grad() const { return impl_ != nullptr && impl_->producer.node != nullptr; }

bool Variable::is_leaf() const {
  const auto& node = impl().producer.node;
  return node == nullptr || dynamic_cast<const Leaf*>(node.get()) != nullptr;
}

void Variable::set_requires_grad(bool value) {
  if (!is_leaf())
    raise<GraphError>("[requires_grad] only a leaf can be set, came a result of {}", producer().node->name());
  if (value == requires_grad()) return;
  if (value && !is_floating(dtype()))
    raise<DTypeError>("[requires_grad] only floats have gradients, came {}", describe(data()));
  impl().producer = value ? Edge(std::make_shared<Leaf>(impl_), 0) : Edge();
}

Variable Variable::grad() const {
  const Edge& edge = producer();
  if (edge.node == nullptr || is_leaf()) return impl().grad;
  const Watch* watch = edge.node->watch();
  return watch == nullptr ? Variable() : watch->outputs[edge.index].retained;
}

void Variable::set_grad(Variable grad) {
  if (grad.defined() && (grad.shape() != shape() || grad.dtype() != dtype()))
    raise<ShapeError>("[set_grad] wanted {}, came {}", describe(data()), describe(grad.data()));
  if (is_leaf())
    impl().grad = std::move(grad);
  else
    producer().node->watched().outputs[producer().index].retained = std::move(grad);
}

void Variable::retain_grad() {
  if (!requires_grad())
    raise<GraphError>("[retain_grad] this variable needs no gradient: {}", describe(data()));
  if (is_leaf()) return;  // keeps its gradient anyway
  producer().node->watched().outputs[producer().index].retains_grad = true;
}

HookHandle Variable::register_hook(GradHook hook) {
  if (!requires_grad())
    raise<GraphError>("[register_hook] this variable needs no gradient: {}", describe(data()));
  return producer().node->watched().outputs[producer().index].hooks.add(std::move(hook));
}

Variable Variable::detach() const { return Variable(data()); }

void Variable::backward(BackwardOptions options) const {
  if (numel() != 1)
    raise<GraphError>("[backward] wanted a single number or an upstream gradient, came {}", describe(data()));
  backward(ones_like(data()), options);
}

void Variable::backward(const Variable& upstream, BackwardOptions options) const {
  if (!requires_grad()) raise<GraphError>("[backward] nothing here needs a gradient: {}", describe(data()));
  internal::run_backward(std::span(this, 1), std::span(&upstream, 1), options);
}

}  // namespace heed
