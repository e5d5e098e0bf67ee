#include <heed/optim/optimizer.h>

#include <algorithm>

#include <heed/optim/internal/parameters.h>
#include <heed/tensor/creation.h>

namespace heed::optim {
/// Gives the options the values that hold in a group, while it lives.
class Optimizer::GroupValues {
 public:
  GroupValues(Optimizer& optimizer, const Group& group) : options_(optimizer.options_) {
    for (const Option& option : options_) common_.push_back(*option.value);
    for (const auto& [name, value] : group.own) {
      Option& option = optimizer.find_option(group.name, name);
      *option.value = name == "lr_scale" ? *option.value * value : value;
    }
  }
  ~GroupValues() {
    for (size_t i = 0; i < common_.size(); ++i) *options_[i].value = common_[i];
  }
  GroupValues(const GroupValues&) = delete;
  GroupValues& operator=(const GroupValues&) = delete;

 private:
  const std::vector<Option>& options_;
  std::vector<double> common_;
};

Optimizer::Optimizer(const NamedVariables& parameters, double lr) : lr_(lr) {
  option("lr", lr_);
  for (const auto& [name, value] : internal::distinct("optimizer", parameters))
    entries_.push_back({name, value, 0, {}});
}

void Optimizer::Option::check(double candidate) const {
  if (!(candidate >= low && candidate < high))
    raise<ValueError>("[optimizer] wanted {} in [{}, {}), came {}", name, low, high, candidate);
}

void Optimizer::kind(std::string name) { kind_ = std::move(name); }

void Optimizer::option(std::string name, double& value, double low, double high) {
  options_.push_back({std::move(name), &value, low, high});
  options_.back().check(value);
}

void Optimizer::state_tensor(std::string name) { tensor_names_.push_back(std::move(name)); }

void Optimizer::set_lr(double lr) {
  options_.front().check(lr);
  lr_ = lr;
}

/// The option that a group's own value belongs to: lr for lr_scale.
Optimizer::Option& Optimizer::find_option(const std::string& group, const std::string& name) {
  if (name == "lr_scale") return options_.front();
  const auto found = std::find_if(options_.begin() + 1, options_.end(),
                                  [&](const Option& option) { return option.name == name; });
  if (found != options_.end()) return *found;
  std::string known = "lr_scale";
  for (auto option = options_.begin() + 1; option != options_.end(); ++option) known += ", " + option->name;
  raise<ValueError>("[optimizer] group \"{}\": wanted options out of {}; came \"{}\"", group, known, name);
}

std::vector<Optimizer::Entry*> Optimizer::find_parameters(const ParameterGroup& group) {
  std::vector<Entry*> found;
  for (const std::string& pattern : group.parameters) {
    const size_t before = found.size();
    for (Entry& entry : entries_)
      if (matches(pattern, entry.name)) found.push_back(&entry);
    if (found.size() == before)
      raise<ValueError>("[optimizer] group \"{}\": none of {} parameters is called \"{}\"", group.name,
                        entries_.size(), pattern);
  }
  for (const Entry* entry : found)
    if (entry->group != 0)
      raise<ValueError>("[optimizer] group \"{}\": \"{}\" is in group \"{}\" already", group.name,
                        entry->name, groups_[entry->group].name);
  return found;
}

void Optimizer::add_group(const ParameterGroup& group) {
  if (group.name.empty()) raise<ValueError>("[optimizer] a group has no name");
  for (const Group& other : groups_)
    if (other.name == group.name)
      raise<ValueError>("[optimizer] two groups have the name \"{}\"", group.name);
  for (const auto& [name, value] : group.options) find_option(group.name, name).check(value);
  const std::vector<Entry*> members = find_parameters(group);
  groups_.push_back({group.name, group.options});
  for (Entry* entry : members) entry->group = groups_.size() - 1;
}

void Optimizer::step() {
  std::vector<Entry*> stepped;
  try {
    for (size_t group = 0; group < groups_.size(); ++group) {
      const GroupValues values(*this, groups_[group]);
      for (Entry& entry : entries_) {
        if (entry.group != group || !entry.parameter.grad().defined()) continue;
        stepped.push_back(&entry);
        step_one(entry);
      }
    }
  } catch (...) {
    for (Entry* entry : stepped) --entry->state.steps;
    updates_.clear();
    throw;
  }
  updates_.run();
}

void Optimizer::step_one(Entry& entry) {
  Tensor parameter = entry.parameter.data();
  if (entry.state.steps++ == 0)
    for (const std::string& name : tensor_names_) entry.state.tensors[name] = zeros_like(parameter);
  update(parameter, entry.parameter.grad().data(), entry.state);
}

void Optimizer::zero_grad() {
  for (Entry& entry : entries_) entry.parameter.zero_grad();
}

}  // namespace heed::optim
