#include <heed/study/intervention.h>

#include <heed/nn/attention.h>
#include <heed/study/internal/named_modules.h>
#include <heed/tensor/creation.h>

namespace heed::study {
namespace {

/// "decoder.layers.0.scores" -> the module "decoder.layers.0" and its point "scores".
std::pair<std::string, std::string> module_and_point(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// Ones, and zeros in the columns of one head: (heads * d).
Tensor all_but(int64_t head, int64_t heads, const Tensor& like) {
  if (head < 0 || head >= heads)
    raise<IndexError>("[switch_off_head] wanted a head in [0, {}), came {}", heads, head);
  const int64_t width = like.size(-1) / heads;
  Tensor keep = ones({like.size(-1)}, like.dtype());
  keep.slice(0, head * width, (head + 1) * width).fill(0);
  return keep;
}

int64_t heads_of(const nn::Module& module) {
  const auto* fused = dynamic_cast<const nn::FusedAttention*>(&module);
  return fused == nullptr ? 1 : fused->heads();
}

/// The attention layers among some modules that a run comes by, and what it gives.
struct Survey {
  double loss = 0;
  std::vector<std::pair<std::string, int64_t>> layers;  // with their heads
};

Survey survey(const internal::NamedModules& modules, const std::function<double()>& run) {
  std::vector<int64_t> heads(modules.size());
  std::vector<HookHandle> hooks;
  for (size_t i = 0; i < modules.size(); ++i)
    hooks.push_back(modules[i].second->register_point_hook([&heads, i](const nn::Point& point) {
      if (point.name == "heads") heads[i] = heads_of(point.module);
    }));
  Survey found{run(), {}};
  for (size_t i = 0; i < modules.size(); ++i)
    if (heads[i] > 0) found.layers.emplace_back(modules[i].first, heads[i]);
  return found;
}

}  // namespace

Intervention edit_point(nn::Module& model, const std::string& name, nn::PointEdit edit) {
  const auto [path, point] = module_and_point(name);
  nn::Module& module = model.get_submodule(path);
  Intervention intervention;
  intervention.name_ = name;
  intervention.handle_ = module.register_point_edit(
      point, [edit = std::move(edit), used = intervention.used_](const nn::Point& seen) {
        *used = true;
        return edit(seen);
      });
  return intervention;
}

Intervention overwrite(nn::Module& model, const std::string& name, Tensor value) {
  return edit_point(model, name, [value = std::move(value)](const nn::Point&) { return Variable(value); });
}

Intervention switch_off_head(nn::Module& model, const std::string& layer, int64_t head) {
  return edit_point(model, layer.empty() ? "heads" : layer + ".heads", [head](const nn::Point& point) {
    return point.value * all_but(head, heads_of(point.module), point.value.data());
  });
}

Effect effect_of(const std::function<double()>& run, const std::function<Intervention()>& intervene) {
  Effect effect;
  effect.before = run();
  const Intervention intervention = intervene();
  effect.after = run();
  if (!intervention.was_used())
    raise<ValueError>("[effect_of] the run does not come by a point called \"{}\"", intervention.name());
  return effect;
}

std::vector<HeadEffect> head_effects(nn::Module& model, const std::vector<std::string>& patterns,
                                     const std::function<double()>& run) {
  const Survey all = survey(internal::matching("head_effects", model.named_modules(), patterns), run);
  if (all.layers.empty())
    raise<ValueError>("[head_effects] the run comes by none of the attention layers asked for");
  std::vector<HeadEffect> effects;
  for (const auto& [layer, heads] : all.layers)
    for (int64_t head = 0; head < heads; ++head) {
      const Intervention off = switch_off_head(model, layer, head);
      effects.push_back({layer, head, {.before = all.loss, .after = run()}});
    }
  return effects;
}

}  // namespace heed::study
