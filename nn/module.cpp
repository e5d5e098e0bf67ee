#include <heed/nn/module.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <heed/autograd/shards.h>

namespace heed::nn {
namespace {

thread_local const ModuleCall* innermost = nullptr;

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

/// The path from `above` down to a place; nothing if that does not lie below. From the top if `above` is
/// null.
std::optional<std::string> path_below(const Module::Place* above, const Module::Place* place) {
  std::string path;
  for (; place != above; place = place->parent.get()) {
    if (place == nullptr) return std::nullopt;
    path = joined(place->name, path);
  }
  return path;
}

Scope::Name scope_below(const Scope::Name& open, const std::string& path) {
  if (path.empty()) return open;
  return std::make_shared<const std::string>(open == nullptr ? path : joined(*open, path));
}

/// The numbers of a parameter in another dtype, for everyone who holds it: the layer that uses it, and the
/// optimizer. A Variable's numbers are constant to all but its module.
void convert(Variable parameter, DType dtype) {
  const bool was_trained = parameter.requires_grad();
  parameter.zero_grad();
  parameter.set_requires_grad(false);
  const_cast<Tensor&>(parameter.data()) = parameter.data().to(dtype);
  parameter.set_requires_grad(was_trained);
}

/// Names of one kind in a line about a state that does not fit: one of another architecture has hundreds.
constexpr size_t kMostNames = 8;

/// Hooks and edits would be called by several shards at once, each with a part of the batch.
void expect_whole_batch(const char* what) {
  if (!heed::internal::inside_shard()) return;
  const Scope::Name scope = Scope::current();
  raise<GraphError>("[sharded_backward] wanted no {} or one shard, came a module with them: \"{}\"", what,
                    scope == nullptr ? "" : *scope);
}

/// What an edit puts in the place of a point.
Variable edited(const Point& point, const PointEdit& edit) {
  Variable other = edit(point);
  if (!other.defined()) return point.value;
  if (other.shape() != point.value.shape())
    raise<ShapeError>("[point] \"{}\": wanted {} in the place of {}, came {}", point.name,
                      point.value.shape(), heed::describe(point.value.data()), heed::describe(other.data()));
  if (other.dtype() != point.value.dtype())
    raise<DTypeError>("[point] \"{}\": wanted {} in the place of {}, came {}", point.name,
                      name_of(point.value.dtype()), heed::describe(point.value.data()),
                      heed::describe(other.data()));
  return other;
}

}  // namespace

std::string StateMismatch::describe() const {
  std::string text;
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    const size_t shown = std::min(names.size(), kMostNames);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what,
                        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  };
  list("missing", missing);
  list("unexpected", unexpected);
  list("wrong shape", wrong_shape);
  return text;
}

/// each.parameter(name, variable) and each.buffer(name, tensor) over the whole tree.
template <class Visit>
void Module::visit(const std::string& prefix, Visit&& each) const {
  for (const auto& [name, value] : parameters_) each(joined(prefix, name), value, Tensor());
  for (const auto& [name, value] : buffers_) each(joined(prefix, name), Variable(), value);
  for (const auto& [name, module] : children_) module->visit(joined(prefix, name), each);
}

NamedVariables Module::named_parameters() const {
  NamedVariables all;
  visit("", [&](const std::string& name, const Variable& value, const Tensor&) {
    const bool seen =
        std::ranges::any_of(all, [&](const auto& entry) { return entry.second.is_same(value); });
    if (value.defined() && !seen) all.emplace_back(name, value);
  });
  return all;
}

std::vector<Variable> Module::parameters() const {
  std::vector<Variable> all;
  for (auto& [name, value] : named_parameters()) all.push_back(std::move(value));
  return all;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const Variable& value : parameters()) count += value.numel();
  return count;
}

std::map<std::string, Tensor> Module::state_dict() const {
  std::map<std::string, Tensor> state;
  for (const auto& [name, value] : named_parameters()) state.emplace(name, value.data());
  visit("", [&](const std::string& name, const Variable&, const Tensor& buffer) {
    if (buffer.defined()) state.emplace(name, buffer);
  });
  return state;
}

StateMismatch Module::load_state_dict(const std::map<std::string, Tensor>& state, bool strict) {
  StateMismatch mismatch;
  std::vector<std::pair<Tensor, Tensor>> copies;  // (own, given)
  const auto own_state = state_dict();
  for (const auto& [name, own] : own_state) {
    const auto given = state.find(name);
    if (given == state.end()) {
      mismatch.missing.push_back(name);
    } else if (!given->second.defined() || given->second.shape() != own.shape() ||
               given->second.dtype() != own.dtype()) {
      mismatch.wrong_shape.push_back(
          fmt::format("{} wanted {}, came {}", name, heed::describe(own), heed::describe(given->second)));
    } else {
      copies.emplace_back(own, given->second);
    }
  }
  for (const auto& [name, given] : state)
    if (!own_state.contains(name)) mismatch.unexpected.push_back(name);
  if (strict && !mismatch.empty()) raise<ValueError>("[load_state_dict] {}", mismatch.describe());
  for (auto& [own, given] : copies) own.copy_from(given);
  return mismatch;
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, module] : children_) module->train(on);
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() {
  std::vector<std::pair<std::string, Module*>> all{{"", this}};
  // The list grows by the children of each module in turn, put right behind it.
  for (size_t i = 0; i < all.size(); ++i) {
    auto [name, module] = all[i];
    size_t place = i;
    for (const auto& child : module->children_)
      if (std::ranges::none_of(all, [&](const auto& entry) { return entry.second == child.second; }))
        all.emplace(all.begin() + static_cast<std::ptrdiff_t>(++place), joined(name, child.first),
                    child.second);
  }
  return all;
}

std::vector<std::pair<std::string, Module*>> Module::named_uses() {
  std::vector<std::pair<std::string, Module*>> all{{"", this}};
  for (const auto& [name, module] : children_)
    for (const auto& [below, use] : module->named_uses())
      all.emplace_back(below.empty() ? name : joined(name, below), use);
  return all;
}

Module& Module::get_submodule(std::string_view name) {
  std::vector<std::string> names;
  for (auto& [path, module] : named_uses()) {
    if (path == name) return *module;
    names.push_back(std::move(path));
  }
  raise<ValueError>("[get_submodule] no module is called \"{}\"; the nearest names are \"{}\"", name,
                    fmt::join(nearest_names(name, names), "\", \""));
}

void Module::apply(const std::function<void(Module&)>& f) {
  for (const auto& [name, module] : named_modules()) f(*module);
}

void Module::set_requires_grad(bool value) {
  for (auto& [name, parameter] : named_parameters()) parameter.set_requires_grad(value);
}

void Module::to(DType dtype) {
  if (!is_floating(dtype)) raise<DTypeError>("[to] wanted a float type, came {}", name_of(dtype));
  for (const auto& [name, parameter] : named_parameters())
    if (parameter.dtype() != dtype) convert(parameter, dtype);
}

void Module::call_forward_hooks(std::span<const Variable> inputs, Variable& output) {
  expect_whole_batch("hooks");
  forward_hooks_.for_each([&](const ForwardHook& hook) {
    if (Variable other = hook(*this, inputs, output); other.defined()) output = std::move(other);
  });
}

Variable Module::point(std::string_view name, Variable value, std::shared_ptr<const Tensor> inner_grad) {
  point_edits_.for_each([&](const NamedEdit& edit) {
    expect_whole_batch("edits");
    if (edit.name == name) value = edited(Point{*this, name, value, inner_grad}, edit.edit);
  });
  if (is_watched()) {
    expect_whole_batch("hooks");
    const Point shown{*this, name, value, std::move(inner_grad)};
    point_hooks_.for_each([&](const PointHook& hook) { hook(shown); });
  }
  return value;
}

bool Module::is_edited(std::string_view name) const {
  bool any = false;
  point_edits_.for_each([&](const NamedEdit& edit) { any = any || edit.name == name; });
  return any;
}

void Module::zero_grad() {
  for (auto& [name, value] : named_parameters()) value.zero_grad();
}

Variable Module::parameter(std::string name, Tensor value) {
  return parameter(std::move(name), Variable(std::move(value), true));
}

Variable Module::parameter(std::string name, const Variable& shared) {
  expect_new_name(name);
  parameters_.emplace_back(std::move(name), shared);
  return shared;
}

Tensor Module::buffer(std::string name, Tensor value) {
  expect_new_name(name);
  buffers_.emplace_back(std::move(name), value);
  return value;
}

void Module::child(std::string name, Module& module) {
  expect_new_name(name);
  if (module.place_->parent == nullptr) {
    module.place_->name = name;
    module.place_->parent = place_;
  }
  children_.emplace_back(std::move(name), &module);
}

void Module::expect_new_name(const std::string& name) const {
  const auto taken = [&](const auto& entries) {
    return std::ranges::any_of(entries, [&](const auto& entry) { return entry.first == name; });
  };
  if (name.empty() || name.find('.') != std::string::npos)
    raise<ValueError>("[module] wanted a name without dots, came \"{}\"", name);
  if (taken(parameters_) || taken(buffers_) || taken(children_))
    raise<ValueError>("[module] the name \"{}\" is taken", name);
}

Scope::Name ModuleCall::name_for(const Module::Place& place) {
  for (const ModuleCall* call = innermost; call != nullptr; call = call->outer_)
    if (const auto path = path_below(call->place_, &place))
      return scope_below(call == innermost ? Scope::current() : call->name_, *path);
  return scope_below(Scope::current(), *path_below(nullptr, &place));
}

ModuleCall::ModuleCall(const Module& module)
    : outer_(innermost), place_(&module.place()), name_(name_for(*place_)), scope_(name_) {
  innermost = this;
}

ModuleCall::~ModuleCall() { innermost = outer_; }

}  // namespace heed::nn
