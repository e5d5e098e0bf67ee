#pragma once

#include <memory>
#include <string>
#include <vector>

#include <heed/nn/module.h>
#include <heed/study/record.h>

namespace heed::study {

struct RecorderOptions {
  bool tensors = true;     ///< keep the values and gradients themselves, beside their statistics
  bool flows = true;       ///< work out by which path gradient came
  bool parameters = true;  ///< gradients and updates of all parameters
  size_t keep = 0;         ///< how many of the last steps to keep; 0: all of them
};

/// Watches what flows through a model by name, and changes no bit of it:
///
///   study::Recorder recorder(model, {"decoder.*.cross_attention"});
///   loss.backward();
///   const study::StepRecord& step = recorder.record();   // before the optimizer's step
///
/// A pattern names modules, each * in it standing for any letters; "*" is all of them. Of the attention
/// layers among them it records what AttentionRecord has, of every other module that shows something what
/// PointRecord has. It ends with the recorder, which may outlive the model. One thread may run the model at a
/// time.
class Recorder {
 public:
  /// ValueError, with the nearest names, for a pattern that no module of the model has.
  Recorder(nn::Module& model, const std::vector<std::string>& patterns, const RecorderOptions& options = {});
  ~Recorder();

  /// Closes a step: gathers what was shown since the last one, with the gradients that came, and forgets it.
  /// To be called after backward and before parameters change, so that flows are those of the weights that
  /// were used.
  /// The record stays where it is until the next one.
  const StepRecord& record();
  /// All that are kept, the first one first.
  const std::vector<StepRecord>& steps() const;
  /// Forgets what was shown since the last record, as that of a pass that is none of the steps.
  void discard();

 private:
  class Watching;
  std::unique_ptr<Watching> watching_;
};

}  // namespace heed::study
