#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <heed/autograd/hooks.h>
#include <heed/autograd/named.h>
#include <heed/autograd/scope.h>

namespace heed::nn {

/// How a state dict differs from a module.
struct StateMismatch {
  std::vector<std::string> missing;      ///< wanted by the module, not in the state
  std::vector<std::string> unexpected;   ///< in the state, unknown to the module
  std::vector<std::string> wrong_shape;  ///< "name: wanted f32(2, 3), came f32(3, 2)"

  bool empty() const { return missing.empty() && unexpected.empty() && wrong_shape.empty(); }
  /// One line with the first eight names of each kind, "" when empty.
  std::string describe() const;
};

class Module;

/// Sees a module, the Variables among the arguments of a call, and what the call gave; returns another output
/// to replace it, or nothing to leave it.
using ForwardHook =
    std::function<Variable(Module& module, std::span<const Variable> inputs, const Variable& output)>;

/// A value that a module shows while it runs, as `decoder.0.attention` shows its "weights".
struct Point {
  const Module& module;
  std::string_view name;
  Variable value;
  /// Set where the value lives inside of a fused op and is no place in the graph.
  std::shared_ptr<const Tensor> inner_grad = {};

  /// Where the value's gradient comes to stand in a backward pass: see heed::watch_grad.
  std::shared_ptr<const Tensor> watch_grad() const {
    return inner_grad != nullptr ? inner_grad : heed::watch_grad(value);
  }
};

/// Looks at a point. It changes nothing: what it is shown, and what comes after, is the same to the last bit
/// as without it.
using PointHook = std::function<void(const Point& point)>;

/// Gives another value of the same shape and type to go on with, or nothing to leave the one that is shown.
using PointEdit = std::function<Variable(const Point& point)>;

/// A part of a model: it owns parameters and buffers and has other modules as members, each registered under
/// a name in the constructor. A parameter's full name is the path to it, as in
/// `decoder.0.attention.q_proj.weight`. Modules are neither copied nor moved: their members refer to each
/// other by address.
class Module {
 public:
  /// A module's name and those of the modules above it. They stay known when one of these is gone.
  struct Place {
    std::string name = {};
    std::shared_ptr<const Place> parent = {};
  };

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  /// Every parameter by its full name, in order of registration; one that is used in several places comes
  /// once, under its first name.
  NamedVariables named_parameters() const;
  std::vector<Variable> parameters() const;
  int64_t parameter_count() const;
  /// Without those of the modules below.
  const NamedVariables& own_parameters() const { return parameters_; }
  /// This module under the name "" and all below it, each once, parents first.
  std::vector<std::pair<std::string, Module*>> named_modules();
  /// The same, but a module that is used in several places comes under each of its names.
  std::vector<std::pair<std::string, Module*>> named_uses();
  /// The module of one of these names. ValueError, with the nearest names, when there is none.
  Module& get_submodule(std::string_view name);
  /// f on this module and on each one below it, parents first.
  void apply(const std::function<void(Module&)>& f);

  /// Parameters and buffers by their full names. The tensors share the module's memory.
  std::map<std::string, Tensor> state_dict() const;
  /// Copies the numbers in. When strict, any difference in names or shapes is one ValueError that names
  /// them, and the module is left as it was; otherwise what fits is loaded and the differences are returned.
  StateMismatch load_state_dict(const std::map<std::string, Tensor>& state, bool strict = true);

  /// Training mode or evaluation: what dropout looks at. Never touches requires_grad.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }
  const Place& place() const { return *place_; }
  void zero_grad();
  /// Whether gradients come to the parameters: requires_grad of each of them.
  void freeze() { set_requires_grad(false); }
  void unfreeze() { set_requires_grad(true); }
  /// Every parameter in another float type, in place: optimizers and tied weights keep their hold. Gradients
  /// and hooks on parameters are dropped. f64 is what gradcheck wants. DTypeError for other types.
  void to(DType dtype);

  /// Calls the hook after each call of the module, in order of registration: a call as `module(...)` whose
  /// result is a Variable, or has one as its member `output`.
  [[nodiscard]] HookHandle register_forward_hook(ForwardHook hook) {
    return forward_hooks_.add(std::move(hook));
  }
  /// Calls the hook with each value that the module shows, without those of the modules below. In a
  /// checkpoint it is called in both runs, and gradients follow the second, where recomputing() is true; that
  /// of a value which goes into the checkpoint is to be watched outside.
  [[nodiscard]] HookHandle register_point_hook(PointHook hook) { return point_hooks_.add(std::move(hook)); }
  /// Puts another value in the place of the point of this name, in each call: what comes after is computed
  /// from it, hooks are shown it, and gradients flow through it. ShapeError or DTypeError in the call for a
  /// value that does not fit. Scores and weights of a fused attention have no place of their own: while one
  /// of them is edited, that attention is composed of single ops, equal to the fused one but for rounding.
  [[nodiscard]] HookHandle register_point_edit(std::string name, PointEdit edit) {
    return point_edits_.add({std::move(name), std::move(edit)});
  }

 protected:
  Module() = default;

  /// Registers a parameter and returns it.
  Variable parameter(std::string name, Tensor value);
  /// Registers a parameter that another module owns too.
  Variable parameter(std::string name, const Variable& shared);
  /// Registers numbers that belong to the state but are not trained.
  Tensor buffer(std::string name, Tensor value);
  /// Registers a member module. One that is registered in several places is named after the first.
  void child(std::string name, Module& module);

  /// Shows a value to the edits and hooks, and returns the value to go on with: the same unless it is edited.
  /// Without any this costs nothing. `inner_grad`: see Point.
  Variable point(std::string_view name, Variable value, std::shared_ptr<const Tensor> inner_grad = {});
  /// True if somebody looks at the points, so that values are wanted which are only made to be shown.
  bool is_watched() const { return point_hooks_.has_any(); }
  /// True if the point of this name is to get another value.
  bool is_edited(std::string_view name) const;

  bool has_forward_hooks() const { return forward_hooks_.has_any(); }
  void call_forward_hooks(std::span<const Variable> inputs, Variable& output);

 private:
  friend class EvalMode;

  struct NamedEdit {
    std::string name;
    PointEdit edit;
  };

  template <class Visit>
  void visit(const std::string& prefix, Visit&& each) const;
  void expect_new_name(const std::string& name) const;
  void set_requires_grad(bool value);

  NamedVariables parameters_;
  std::vector<std::pair<std::string, Tensor>> buffers_;
  std::vector<std::pair<std::string, Module*>> children_;
  HookList<ForwardHook> forward_hooks_;
  HookList<PointHook> point_hooks_;
  HookList<NamedEdit> point_edits_;
  std::shared_ptr<Place> place_ = std::make_shared<Place>();
  bool training_ = true;
};

/// The call of a module: while it lives, ops are recorded in the module's scope, as in
/// "decoder.layers.0.attention". That is the module's path below the innermost module that has it inside and
/// is being called, below the scope that is open there; a module that none of them contains is named by its
/// whole path.
class ModuleCall {
 public:
  explicit ModuleCall(const Module& module);
  ~ModuleCall();
  ModuleCall(const ModuleCall&) = delete;
  ModuleCall& operator=(const ModuleCall&) = delete;

 private:
  static Scope::Name name_for(const Module::Place& place);

  const ModuleCall* outer_;
  const Module::Place* place_;
  Scope::Name name_;
  Scope scope_;
};

/// What a layer derives from: `class Block : public Layer<Block>` writes `forward(...)` with whatever
/// arguments and result it likes, and is called as `block(...)`, which opens the module's scope. With a Base
/// it goes on from another layer, whose parameters become its own.
template <class T, class Base = Module>
class Layer : public Base {
 public:
  using Base::Base;

  template <class... Args>
  decltype(auto) operator()(Args&&... args) {
    const ModuleCall call(*this);
    if (this->has_forward_hooks()) return call_with_hooks(std::forward<Args>(args)...);
    return static_cast<T&>(*this).forward(std::forward<Args>(args)...);
  }

 private:
  template <class... Args>
  decltype(auto) call_with_hooks(Args&&... args) {
    using Result = decltype(static_cast<T&>(*this).forward(std::forward<Args>(args)...));
    constexpr bool is_variable = std::is_same_v<Result, Variable>;
    if constexpr (is_variable || requires(Result result) { static_cast<Variable&>(result.output); }) {
      std::vector<Variable> inputs;
      (append(inputs, args), ...);
      Result result = static_cast<T&>(*this).forward(std::forward<Args>(args)...);
      if constexpr (is_variable)
        this->call_forward_hooks(inputs, result);
      else
        this->call_forward_hooks(inputs, result.output);
      return result;
    } else {
      return static_cast<T&>(*this).forward(std::forward<Args>(args)...);
    }
  }

  template <class Arg>
  static void append(std::vector<Variable>& inputs, const Arg& arg) {
    if constexpr (std::is_same_v<Arg, Variable>) inputs.push_back(arg);
  }
};

/// Modules of one type in a row, built in place and named by their numbers.
template <class T>
class ModuleList : public Module {
 public:
  template <class... Args>
  T& add(Args&&... args) {
    modules_.push_back(std::make_unique<T>(std::forward<Args>(args)...));
    child(std::to_string(modules_.size() - 1), *modules_.back());
    return *modules_.back();
  }
  size_t size() const { return modules_.size(); }
  T& operator[](size_t i) { return *modules_[i]; }
  const T& operator[](size_t i) const { return *modules_[i]; }

 private:
  std::vector<std::unique_ptr<T>> modules_;
};

}  // namespace heed::nn
