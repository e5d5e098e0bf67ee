#pragma once

#include <limits>
#include <map>
#include <string>

#include <heed/autograd/named.h>

namespace heed::optim {

/// What an optimizer remembers of one parameter: tensors by name, and how many steps it took.
struct ParameterState {
  std::map<std::string, Tensor> tensors;
  int64_t steps = 0;
};

/// Moves parameters along their gradients. A subclass registers in its constructor what belongs to its state
/// (options, and tensors that it keeps of each parameter) and writes one `update`. A parameter given twice is
/// one parameter; one without a gradient is left alone.
class Optimizer {
 public:
  Optimizer(const NamedVariables& parameters, double lr);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  void step();
  void zero_grad();
  double lr() const { return lr_; }
  void set_lr(double lr);

  /// Everything it remembers: each option by its name as an f64 number, and for each parameter that took a
  /// step `<parameter>/<tensor>`, which shares the optimizer's memory, and `<parameter>/steps`, an i64
  /// number.
  std::map<std::string, Tensor> state_dict() const;
  /// Replaces it, the options too. ValueError or ShapeError, with nothing changed, for a state of other
  /// parameters, shapes or options.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 protected:
  /// Registers a number that shapes the steps. It must be in [low, high), now and when it is loaded
  /// (ValueError).
  void option(std::string name, double& value, double low = 0,
              double high = std::numeric_limits<double>::infinity());
  /// Registers a tensor that an update finds in its state: like the parameter, zeros before the first step.
  void state_tensor(std::string name);
  /// Changes one parameter in place; state.steps counts this step already.
  virtual void update(Tensor& parameter, const Tensor& grad, ParameterState& state) = 0;

 private:
  struct Entry {
    std::string name;
    Variable parameter;
    ParameterState state;
  };
  struct Option {
    std::string name;
    double* value;
    double low, high;

    void check(double candidate) const;
  };
  class StateReader;

  std::vector<Entry> entries_;
  std::vector<Option> options_;
  std::vector<std::string> tensor_names_;
  double lr_;
};

}  // namespace heed::optim
