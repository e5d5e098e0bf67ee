#include "translate/recipe.h"

#include <heed/tensor/error.h>
#include <heed/tensor/files/atomic_file.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "translate/data/dataset.h"

namespace heed::translate {
namespace {

using nlohmann::json;

/// The embedded corpus is larger and its sentences longer than the toy set: these make a good translator of
/// it.
constexpr int64_t kCorpusExamples = 6000;
constexpr int64_t kEmbeddedEpochs = 20;

/// Two GRUs learn that corpus slower than the transformer does: all of it, twice the time, and a higher rate
/// that warms up and falls.
json bahdanau_on_corpus() { return {{"examples", 0}, {"epochs", 40}, {"lr", 0.01}, {"warmup_steps", 500}}; }

/// What need not be as it was when a training goes on.
const std::set<std::string> kMayChange{"data", "strict", "epochs", "steps"};

json to_json(const Recipe& r) {
  return {{"data", r.data},
          {"strict", r.strict},
          {"preset", r.preset},
          {"model", r.model},
          {"score", r.score},
          {"position", r.position},
          {"norm", r.norm},
          {"examples", r.examples},
          {"holdout", r.holdout},
          {"lr", r.lr},
          {"warmup_steps", r.warmup_steps},
          {"seed", r.seed},
          {"epochs", r.epochs},
          {"steps", r.steps}};
}

Recipe from_json(const json& all) {
  return {.data = all.at("data"),
          .strict = all.at("strict"),
          .preset = all.at("preset"),
          .model = all.at("model"),
          .score = all.at("score"),
          .position = all.at("position"),
          .norm = all.at("norm"),
          .examples = all.at("examples"),
          .holdout = all.at("holdout"),
          .lr = all.at("lr"),
          .warmup_steps = all.at("warmup_steps"),
          .seed = all.at("seed"),
          .epochs = all.at("epochs"),
          .steps = all.at("steps")};
}

json defaults(const std::string& preset_name, const std::string& data) {
  const bool embedded = is_embedded(data);
  const Preset& preset = preset_by_name(preset_name);
  return to_json({.data = data,
                  .strict = false,
                  .preset = preset_name,
                  .model = "transformer",
                  .score = "additive",
                  .position = "sinusoidal",
                  .norm = "post",
                  .examples = data.empty() ? kCorpusExamples
                              : embedded   ? 0
                                           : preset.examples,
                  .holdout = embedded ? kEmbeddedHoldout : 0,
                  .lr = preset.lr,
                  .warmup_steps = preset.warmup_steps,
                  .seed = 0,
                  .epochs = embedded ? kEmbeddedEpochs : preset.epochs,
                  .steps = 0});
}

/// --epochs and --steps are two ways to say one thing.
json how_long(const json& given) {
  json changes = json::object();
  for (const char* key : {"epochs", "steps"})
    if (given.contains(key)) changes = {{"epochs", 0}, {"steps", 0}}, changes[key] = given.at(key);
  return changes;
}

std::string option_of(std::string key) {
  std::ranges::replace(key, '_', '-');
  return "--" + key;
}

/// An option that would change nothing is a misunderstanding.
void expect_belongs(const json& given, const char* key, const std::string& model, const char* owner) {
  if (given.contains(key) && model != owner)
    raise<ValueError>("[train] wanted {} with --model {}, came --model {}", option_of(key), owner, model);
}

}  // namespace

Recipe make_recipe(const json& given) {
  const std::string preset = given.value("preset", "toy"), data = given.value("data", "");
  json all = defaults(preset, data);
  if (data.empty() && preset == "toy" && given.value("model", "") == "bahdanau")
    all.update(bahdanau_on_corpus());
  all.update(given);
  all.update(how_long(given));
  Recipe recipe = from_json(all);
  expect_belongs(given, "score", recipe.model, "bahdanau");
  expect_belongs(given, "position", recipe.model, "transformer");
  expect_belongs(given, "norm", recipe.model, "transformer");
  return recipe;
}

Recipe continued(const Recipe& recipe, const json& given) {
  json all = to_json(recipe);
  std::string differences;
  for (const auto& [key, value] : given.items()) {
    if (kMayChange.contains(key) || all.at(key) == value) continue;
    differences += fmt::format("{}{} {}, came {}", differences.empty() ? "" : "; ", option_of(key),
                               all.at(key).dump(), value.dump());
  }
  if (!differences.empty())
    raise<ValueError>("[train] wanted to go on as it was begun, with {}", differences);
  all.update(given);
  all.update(how_long(given));
  return from_json(all);
}

Architecture architecture_of(const Recipe& recipe) {
  Architecture architecture = architecture_of(preset_by_name(recipe.preset),
                                              static_cast<ModelKind>(model_names().place(recipe.model)));
  architecture.length = std::max(architecture.length, longest_sentence(recipe.data) + 1);
  architecture.score = static_cast<nn::ScoreKind>(score_names().place(recipe.score));
  architecture.position = static_cast<nn::PositionKind>(position_names().place(recipe.position));
  architecture.norm = static_cast<nn::NormPlace>(norm_names().place(recipe.norm));
  return architecture;
}

void save_recipe(const std::filesystem::path& path, const Recipe& recipe) {
  const std::string text = to_json(recipe).dump(2) + "\n";
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(text))); });
}

Recipe load_recipe(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file)
    raise<FileError>("[train] {}: wanted the folder of a training, came one without {}",
                     path.parent_path().string(), path.filename().string());
  try {
    return from_json(json::parse(file));
  } catch (const json::exception& problem) {
    raise<FileError>("[train] {}: wanted a training's recipe, came: {}", path.string(), problem.what());
  }
}

}  // namespace heed::translate
