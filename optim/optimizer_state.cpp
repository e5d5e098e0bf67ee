#include <heed/optim/internal/state_reader.h>
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

std::string Optimizer::member_key(const Entry& entry) const {
  return entry.name + "/group:" + groups_[entry.group].name;
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> state;
  if (!kind_.empty()) state.emplace(kKind + kind_, scalar(1, DType::i64));
  for (const Option& option : options_) state.emplace(option.name, scalar(*option.value, DType::f64));
  for (const Group& group : groups_)
    for (const auto& [name, value] : group.own)
      state.emplace(group_key(group.name, name), scalar(value, DType::f64));
  for (const Entry& entry : entries_) {
    if (entry.group != 0) state.emplace(member_key(entry), scalar(1, DType::i64));
    if (entry.state.steps == 0) continue;
    state.emplace(entry.name + "/steps", scalar(static_cast<double>(entry.state.steps), DType::i64));
    for (const auto& [name, tensor] : entry.state.tensors) state.emplace(entry.name + "/" + name, tensor);
  }
  return state;
}

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& state) {
  internal::StateReader reader("optimizer", state);
  if (!kind_.empty()) {
    if (!reader.has(kKind + kind_))
      raise<ValueError>("[optimizer] wanted the state of {}, came that of {}", kind_, kind_of(state));
    reader.number(kKind + kind_, DType::i64);
  }
  const auto read_option = [&](const std::string& key, const Option& option) {
    const double value = reader.number(key, DType::f64);
    option.check(value);
    return value;
  };
  std::vector<double> values;
  for (const Option& option : options_) values.push_back(read_option(option.name, option));
  std::vector<Group> groups = groups_;
  for (Group& group : groups)
    for (auto& [name, value] : group.own)
      value = read_option(group_key(group.name, name), find_option(group.name, name));
  std::vector<ParameterState> loaded;
  for (const Entry& entry : entries_) loaded.push_back(read_entry(reader, entry));
  reader.expect_all_read();

  for (size_t i = 0; i < options_.size(); ++i) *options_[i].value = values[i];
  groups_ = std::move(groups);
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].state = std::move(loaded[i]);
}

ParameterState Optimizer::read_entry(internal::StateReader& reader, const Entry& entry) const {
  ParameterState result;
  if (entry.group != 0) reader.number(member_key(entry), DType::i64);
  const std::string steps = entry.name + "/steps";
  if (!reader.has(steps)) return result;
  result.steps = static_cast<int64_t>(reader.number(steps, DType::i64));
  if (result.steps < 1)
    raise<ValueError>("[optimizer] wanted \"{}\" to be 1 or more, came {}", steps, result.steps);
  for (const std::string& name : tensor_names_)
    result.tensors.emplace(name, reader.tensor(entry.name + "/" + name, entry.parameter.data()));
  return result;
}

}  // namespace heed::optim
