#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include <heed/autograd/named.h>
#include <heed/tensor/kernels/update.h>

namespace heed::optim {
namespace internal {
class StateReader;
}

/// What an optimizer remembers of one parameter: tensors by name, and how many steps it took.
struct ParameterState {
  std::map<std::string, Tensor> tensors;
  int64_t steps = 0;
};

/// Parameters that an optimizer treats in a way of their own.
struct ParameterGroup {
  std::string name = {};
  /// Names of parameters, or patterns in which each * stands for any letters: "*.bias".
  std::vector<std::string> parameters = {};
  /// Own values of the optimizer's options, by name: {{"weight_decay", 0}}. `lr_scale` is a factor for the
  /// learning rate, which itself is common to all groups: so a schedule moves them together.
  std::map<std::string, double> options = {};
};

/// Moves parameters along their gradients. A subclass registers in its constructor what belongs to its state
/// (options, and tensors that it keeps of each parameter) and writes one `update`. A parameter given twice is
/// one parameter; one without a gradient is left alone. No two parameters may share memory.
class Optimizer {
 public:
  /// ValueError for a negative or infinite lr, or one name for two parameters.
  Optimizer(const NamedVariables& parameters, double lr);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// When an update throws, no update that was left to updates() is done, and the step does not count.
  void step();
  void zero_grad();
  double lr() const { return lr_; }
  void set_lr(double lr);

  /// Gives some parameters options of their own; those in no group go by the options of the constructor.
  /// ValueError, with nothing changed, for a name or pattern without a parameter, a parameter that is in
  /// another group, an option that the optimizer has not or that is out of range, and for a second group of
  /// that name.
  void add_group(const ParameterGroup& group);

  /// Everything it remembers: each option by its name as an f64 number, `group:<group>/<option>`, and for
  /// each parameter that took a step `<parameter>/<tensor>`, which shares the optimizer's memory, and
  /// `<parameter>/steps`, an i64 number. `kind:<kind>` tells which optimizer it is of, and
  /// `<parameter>/group:<group>` which group a parameter is in.
  std::map<std::string, Tensor> state_dict() const;
  /// Replaces it, the options too. ValueError or ShapeError, with nothing changed, for a state of another
  /// kind of optimizer, or of other parameters, shapes, options or groups.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 protected:
  /// Registers what the update is called, with all that changes its rule and is no number. Without it, a
  /// state is known by its options and tensors only.
  void kind(std::string name);
  /// Registers a number that shapes the steps. It must be in [low, high), now and when it is loaded
  /// (ValueError). During `update` it has the value that holds in the parameter's group.
  void option(std::string name, double& value, double low = 0,
              double high = std::numeric_limits<double>::infinity());
  /// Registers a tensor that an update finds in its state: like the parameter, zeros before the first step.
  void state_tensor(std::string name);
  /// Changes one parameter in place, at once or by an entry in updates(); state.steps counts this step
  /// already.
  virtual void update(Tensor& parameter, const Tensor& grad, ParameterState& state) = 0;
  /// Updates that are done together when `update` has seen all parameters: a loop over all of them.
  kernels::UpdateList& updates() { return updates_; }

 private:
  struct Entry {
    std::string name;
    Variable parameter;
    size_t group;  // in groups_
    ParameterState state;
  };
  struct Option {
    std::string name;
    double* value;
    double low, high;

    void check(double candidate) const;
  };
  struct Group {
    std::string name;
    std::map<std::string, double> own;  // values of options, lr_scale among them
  };
  class GroupValues;

  Option& find_option(const std::string& group, const std::string& name);
  std::vector<Entry*> find_parameters(const ParameterGroup& group);
  void step_one(Entry& entry);
  std::string member_key(const Entry& entry) const;
  ParameterState read_entry(internal::StateReader& reader, const Entry& entry) const;

  std::vector<Entry> entries_;
  std::vector<Group> groups_{1};  // the first is of those in no group, and has nothing of its own
  std::vector<Option> options_;
  std::vector<std::string> tensor_names_;
  std::string kind_;
  kernels::UpdateList updates_;
  double lr_;
};

}  // namespace heed::optim
