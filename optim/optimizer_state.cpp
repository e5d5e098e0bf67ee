#include <set>

#include <heed/optim/optimizer.h>
#include <heed/tensor/creation.h>

namespace heed::optim {
namespace {

const std::string kKind = "kind:";

std::string group_key(const std::string& group, const std::string& option) {
  return "group:" + group + "/" + option;
}

/// What a state says about where it comes from.
std::string kind_of(const std::map<std::string, Tensor>& state) {
  const auto found = state.lower_bound(kKind);
  const bool told = found != state.end() && found->first.starts_with(kKind);
  return told ? found->first.substr(kKind.size()) : "another kind of optimizer";
}

}  // namespace

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> state;
  if (!kind_.empty()) state.emplace(kKind + kind_, scalar(1, DType::i64));
  for (const Option& option : options_) state.emplace(option.name, scalar(*option.value, DType::f64));
  for (const Group& group : groups_)
    for (const auto& [name, value] : group.own)
      state.emplace(group_key(group.name, name), scalar(value, DType::f64));
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

  void expect_kind(const std::string& kind) {
    if (kind.empty()) return;
    if (!state_.contains(kKind + kind))
      raise<ValueError>("[optimizer] wanted the state of {}, came that of {}", kind, kind_of(state_));
    read_.insert(kKind + kind);
  }

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

  double option(const std::string& key, const Option& option) {
    const double value = number(key, DType::f64);
    option.check(value);
    return value;
  }

  ParameterState parameter(const Entry& entry, const std::vector<std::string>& tensor_names) {
    ParameterState result;
    const std::string steps = entry.name + "/steps";
    if (!state_.contains(steps)) return result;
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
  reader.expect_kind(kind_);
  std::vector<double> values;
  for (const Option& option : options_) values.push_back(reader.option(option.name, option));
  std::vector<Group> groups = groups_;
  for (Group& group : groups)
    for (auto& [name, value] : group.own)
      value = reader.option(group_key(group.name, name), find_option(group.name, name));
  std::vector<ParameterState> loaded;
  for (const Entry& entry : entries_) loaded.push_back(reader.parameter(entry, tensor_names_));
  reader.expect_all_read();

  for (size_t i = 0; i < options_.size(); ++i) *options_[i].value = values[i];
  groups_ = std::move(groups);
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].state = std::move(loaded[i]);
}

}  // namespace heed::optim
