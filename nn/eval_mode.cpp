#include <heed/nn/eval_mode.h>

namespace heed::nn {

EvalMode::EvalMode(Module& module) {
  for (const auto& [name, part] : module.named_modules())
    was_training_.emplace_back(part, part->is_training());
  module.eval();
}

EvalMode::~EvalMode() {
  for (const auto& [part, was_training] : was_training_) part->training_ = was_training;
}

}  // namespace heed::nn
