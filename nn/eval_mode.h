#pragma once

#include <utility>
#include <vector>

#include <heed/nn/module.h>

namespace heed::nn {

/// While it lives, a module and all below it are in evaluation mode. Afterwards each is in the mode that was
/// its own, exceptions or not: a part that was in evaluation mode within a model in training is so again. The
/// module has to outlive it.
class EvalMode {
 public:
  explicit EvalMode(Module& module);
  ~EvalMode();
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  std::vector<std::pair<Module*, bool>> was_training_;
};

}  // namespace heed::nn
