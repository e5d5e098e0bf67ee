#include <heed/optim/optimizer.h>

#include <algorithm>
#include <cmath>

#include <heed/tensor/creation.h>

namespace heed::optim {

Tensor& ParameterState::zeros_at_first(const std::string& name, const Tensor& like) {
  Tensor& tensor = tensors[name];
  if (!tensor.defined()) tensor = zeros_like(like);
  return tensor;
}

Optimizer::Optimizer(const NamedVariables& parameters, double lr) {
  set_lr(lr);
  for (const auto& [name, value] : parameters) {
    const bool seen =
        std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.parameter.is_same(value); });
    if (seen) continue;
    if (std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.name == name; }))
      raise<ValueError>("[optimizer] two parameters have the name \"{}\"", name);
    entries_.push_back({name, value, {}});
  }
}

void Optimizer::set_lr(double lr) {
  if (!(lr >= 0) || std::isinf(lr))
    raise<ValueError>("[optimizer] wanted a learning rate of 0 or more, came {}", lr);
  lr_ = lr;
}

void Optimizer::step() {
  for (Entry& entry : entries_) {
    const Variable grad = entry.parameter.grad();
    if (!grad.defined()) continue;
    ++entry.state.steps;
    Tensor parameter = entry.parameter.data();
    update(parameter, grad.data(), entry.state);
  }
}

void Optimizer::zero_grad() {
  for (Entry& entry : entries_) entry.parameter.zero_grad();
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> state;
  for (const Entry& entry : entries_) {
    if (entry.state.steps == 0) continue;
    state.emplace(entry.name + "/steps", scalar(static_cast<double>(entry.state.steps), DType::i64));
    for (const auto& [name, tensor] : entry.state.tensors) state.emplace(entry.name + "/" + name, tensor);
  }
  return state;
}

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& state) {
  std::map<std::string, ParameterState> loaded;
  for (const auto& [key, tensor] : state) {
    const size_t slash = key.rfind('/');
    const std::string name = key.substr(0, slash),
                      part = slash == std::string::npos ? "" : key.substr(slash + 1);
    const auto entry = std::ranges::find(entries_, name, &Entry::name);
    if (entry == entries_.end())
      raise<ValueError>("[optimizer] its state names an unknown parameter: \"{}\"", key);
    const Tensor& parameter = entry->parameter.data();
    if (part == "steps") {
      if (tensor.dtype() != DType::i64 || tensor.numel() != 1 || tensor.item() < 1)
        raise<ValueError>("[optimizer] wanted \"{}\" to be one i64 of 1 or more, came {}", key,
                          describe(tensor));
      loaded[name].steps = static_cast<int64_t>(tensor.item());
    } else if (tensor.shape() != parameter.shape() || tensor.dtype() != parameter.dtype()) {
      raise<ShapeError>("[optimizer] wanted \"{}\" as {}, came {}", key, describe(parameter),
                        describe(tensor));
    } else {
      loaded[name].tensors[part] = tensor.clone();
    }
  }
  for (Entry& entry : entries_) entry.state = std::move(loaded[entry.name]);
}

}  // namespace heed::optim
