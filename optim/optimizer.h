#pragma once

#include <map>
#include <string>

#include <heed/autograd/named.h>

namespace heed::optim {

/// What an optimizer remembers of one parameter: tensors by name, and how many steps it took.
struct ParameterState {
  std::map<std::string, Tensor> tensors;
  int64_t steps = 0;

  /// The tensor of that name, zeros like `like` at first.
  Tensor& zeros_at_first(const std::string& name, const Tensor& like);
};

/// Moves parameters along their gradients. A subclass writes one `update`. A parameter given twice is one
/// parameter; one without a gradient is left alone.
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

  /// Everything it remembers: `<parameter>/<tensor>`, and `<parameter>/steps` as an i64 number.
  std::map<std::string, Tensor> state_dict() const;
  /// Replaces it. ValueError, with nothing changed, for a state of other parameters or shapes.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 protected:
  /// Changes one parameter in place; state.steps counts this step already.
  virtual void update(Tensor& parameter, const Tensor& grad, ParameterState& state) = 0;

 private:
  struct Entry {
    std::string name;
    Variable parameter;
    ParameterState state;
  };
  std::vector<Entry> entries_;
  double lr_;
};

}  // namespace heed::optim
