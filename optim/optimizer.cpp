#include <heed/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <heed/tensor/creation.h>

namespace heed::optim {

Optimizer::Optimizer(const NamedVariables& parameters, double lr) : lr_(lr) {
  option("lr", lr_);
  for (const auto& [name, value] : parameters) {
    const auto same = [&value = value](const Entry& entry) { return entry.parameter.is_same(value); };
    const auto namesake = [&name = name](const Entry& entry) { return entry.name == name; };
    if (std::ranges::any_of(entries_, same)) continue;
    if (std::ranges::any_of(entries_, namesake))
      raise<ValueError>("[optimizer] two parameters have the name \"{}\"", name);
    entries_.push_back({name, value, {}});
  }
}

void Optimizer::Option::check(double candidate) const {
  if (!(candidate >= low && candidate < high))
    raise<ValueError>("[optimizer] wanted {} in [{}, {}), came {}", name, low, high, candidate);
}

void Optimizer::option(std::string name, double& value, double low, double high) {
  options_.push_back({std::move(name), &value, low, high});
  options_.back().check(value);
}

void Optimizer::state_tensor(std::string name) { tensor_names_.push_back(std::move(name)); }

void Optimizer::set_lr(double lr) {
  options_.front().check(lr);
  lr_ = lr;
}

void Optimizer::step() {
  for (Entry& entry : entries_) {
    const Variable grad = entry.parameter.grad();
    if (!grad.defined()) continue;
    Tensor parameter = entry.parameter.data();
    for (const std::string& name : tensor_names_)
      if (entry.state.steps == 0) entry.state.tensors[name] = zeros_like(parameter);
    ++entry.state.steps;
    update(parameter, grad.data(), entry.state);
  }
}

void Optimizer::zero_grad() {
  for (Entry& entry : entries_) entry.parameter.zero_grad();
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> state;
  for (const Option& option : options_) state.emplace(option.name, scalar(*option.value, DType::f64));
  for (const Entry& entry : entries_) {
    if (entry.state.steps == 0) continue;
    state.emplace(entry.name + "/steps", scalar(static_cast<double>(entry.state.steps), DType::i64));
    for (const auto& [name, tensor] : entry.state.tensors) state.emplace(entry.name + "/" + name, tensor);
  }
  return state;
}

/// Takes a state apart, and knows in the end what nobody asked for.
class Optimizer::StateReader {
 public:
  explicit StateReader(const std::map<std::string, Tensor>& state) : state_(state) {}

  bool has(const std::string& key) const { return state_.contains(key); }

  const Tensor& get(const std::string& key) {
    const auto found = state_.find(key);
    if (found == state_.end()) raise<ValueError>("[optimizer] its state lacks \"{}\"", key);
    read_.insert(key);
    return found->second;
  }

  double number(const std::string& key, DType dtype) {
    const Tensor& tensor = get(key);
    if (tensor.dtype() != dtype || tensor.numel() != 1)
      raise<ShapeError>("[optimizer] wanted \"{}\" to be one {}, came {}", key, name_of(dtype),
                        describe(tensor));
    return tensor.item();
  }

  ParameterState parameter(const Entry& entry, const std::vector<std::string>& tensor_names) {
    ParameterState result;
    const std::string steps = entry.name + "/steps";
    if (!has(steps)) return result;
    result.steps = static_cast<int64_t>(number(steps, DType::i64));
    if (result.steps < 1)
      raise<ValueError>("[optimizer] wanted \"{}\" to be 1 or more, came {}", steps, result.steps);
    const Tensor& like = entry.parameter.data();
    for (const std::string& name : tensor_names) {
      const std::string key = entry.name + "/" + name;
      const Tensor& tensor = get(key);
      if (tensor.shape() != like.shape() || tensor.dtype() != like.dtype())
        raise<ShapeError>("[optimizer] wanted \"{}\" as {}, came {}", key, describe(like), describe(tensor));
      result.tensors.emplace(name, tensor.clone());
    }
    return result;
  }

  void expect_all_read() const {
    for (const auto& [key, tensor] : state_)
      if (!read_.contains(key)) raise<ValueError>("[optimizer] its state has an unexpected \"{}\"", key);
  }

 private:
  const std::map<std::string, Tensor>& state_;
  std::set<std::string> read_;
};

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& state) {
  StateReader reader(state);
  std::vector<double> values;
  for (const Option& option : options_) {
    values.push_back(reader.number(option.name, DType::f64));
    option.check(values.back());
  }
  std::vector<ParameterState> loaded;
  for (const Entry& entry : entries_) loaded.push_back(reader.parameter(entry, tensor_names_));
  reader.expect_all_read();

  for (size_t i = 0; i < options_.size(); ++i) *options_[i].value = values[i];
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].state = std::move(loaded[i]);
}

}  // namespace heed::optim
