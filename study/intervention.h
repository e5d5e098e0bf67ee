#pragma once

#include <functional>
#include <string>
#include <vector>

#include <heed/nn/module.h>

/// Ablation and patching: what becomes of the loss when something inside of the model is switched off, or
/// replaced.
namespace heed::study {

/// A change to a model for as long as it lives.
class Intervention {
 public:
  /// Whether a pass has come by it.
  bool was_used() const { return *used_; }
  const std::string& name() const { return name_; }

 private:
  friend Intervention edit_point(nn::Module&, const std::string&, nn::PointEdit);
  std::string name_;
  std::shared_ptr<bool> used_ = std::make_shared<bool>(false);
  HookHandle handle_;
};

/// Edits a point by its full name, as "decoder.layers.0.cross_attention.scores". ValueError, with the nearest
/// names, when the model has no such module. What a module shows is known only when it runs: see was_used().
[[nodiscard]] Intervention edit_point(nn::Module& model, const std::string& name, nn::PointEdit edit);

/// Puts a value in the place of a point: one that was recorded from another input, for example.
[[nodiscard]] Intervention overwrite(nn::Module& model, const std::string& name, Tensor value);

/// Makes the output of one head of an attention layer 0, the others left alone. IndexError in the pass for a
/// head that is not there.
[[nodiscard]] Intervention switch_off_head(nn::Module& model, const std::string& layer, int64_t head);

/// The loss with and without an intervention.
struct Effect {
  double before = 0;
  double after = 0;
  double change() const { return after - before; }
};

/// run() computes the loss. `intervene` makes the intervention. ValueError when the run does not come by it.
Effect effect_of(const std::function<double()>& run, const std::function<Intervention()>& intervene);

struct HeadEffect {
  std::string layer;
  int64_t head = 0;
  Effect effect;
};

/// The effect of switching off each head of the attention layers that a pattern names (see Recorder), by
/// itself, in the order of the model: what is large, the loss depends on. ValueError when the run comes by
/// none of them.
std::vector<HeadEffect> head_effects(nn::Module& model, const std::vector<std::string>& patterns,
                                     const std::function<double()>& run);

}  // namespace heed::study
