#pragma once

#include <functional>

#include <heed/nn/module.h>

namespace heed::nn {

/// Layers one after the other, each of a type of its own, built in place and named by their numbers:
///   Sequential net;
///   net.add<Linear>(LinearOptions{.inputs = 4, .outputs = 8});
///   net.add<Activation>(ActivationKind::tanh);
/// A layer takes a Variable and gives one. Without layers it gives what it gets.
class Sequential : public Layer<Sequential> {
 public:
  template <class T, class... Args>
  T& add(Args&&... args) {
    auto layer = std::make_unique<T>(std::forward<Args>(args)...);
    T& added = *layer;
    child(std::to_string(size()), added);
    modules_.push_back(std::move(layer));
    calls_.push_back([&added](const Variable& x) -> Variable { return added(x); });
    return added;
  }
  size_t size() const { return modules_.size(); }
  Module& operator[](size_t i) { return *modules_[i]; }

  Variable forward(const Variable& x) {
    Variable y = x;
    for (const auto& call : calls_) y = call(y);
    return y;
  }

 private:
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::function<Variable(const Variable&)>> calls_;
};

}  // namespace heed::nn
