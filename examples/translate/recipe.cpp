#include "translate/recipe.h"

#include <heed/tensor/error.h>
#include <heed/tensor/files/atomic_file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "translate/data/dataset.h"
#include "translate/json_file.h"

namespace heed::translate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Recipe, data, strict, preset, model, score, position, norm, attentive,
                                   dropout, length, examples, holdout, lr, warmup_steps, average, bucket,
                                   shards, seed, epochs, steps)

namespace {

using nlohmann::json;

constexpr int64_t kCorpusEpochs = 20;
/// The made-up languages are to be learned to the last letter, whatever the seed.
constexpr int64_t kMadeUpEpochs = 60;
/// The embedded corpus is larger and its sentences longer than the toy set. So many make a good translator of
/// it; two GRUs want all of it.
constexpr int64_t kCorpusExamples = 6000;
/// Two GRUs on the corpus, and all models on the made-up languages, which have one rule and no exceptions,
/// learn it soonest without dropout and at a high rate that warms up and falls.
constexpr double kHighRate = 0.008;
constexpr int64_t kHighRateWarmup = 500;
/// Of the average of the weights. Of four seeds each, it takes the Transformer from 97.2-98.6% of the
/// held-out sources to 98.6-99.4%.
constexpr double kCorpusAverage = 0.98;

/// Never the number of threads: the same seed is to give the same model everywhere.
constexpr int64_t kShards = 2;

/// What need not be as it was when a training goes on.
const std::set<std::string> kMayChange{"data", "strict", "epochs", "steps"};

/// What suits data that comes with the program.
void suit_embedded(Recipe& r) {
  const bool is_corpus = r.data.empty(), is_recurrent = r.model == "bahdanau";
  r.holdout = kEmbeddedHoldout;
  r.average = kCorpusAverage;
  r.epochs = is_corpus ? kCorpusEpochs : kMadeUpEpochs;
  r.examples = is_corpus && !is_recurrent ? kCorpusExamples : 0;
  if (is_corpus && !is_recurrent) return;
  r.attentive = is_corpus;
  r.dropout = 0;
  if (r.preset == "toy") r.lr = kHighRate, r.warmup_steps = kHighRateWarmup;
}

/// What suits the model, the preset and the data that were asked for.
Recipe defaults(const json& given) {
  const std::string model = given.value("model", "transformer");
  const auto kind = static_cast<ModelKind>(model_names().place(model));
  Recipe r{.data = given.value("data", ""),
           .preset = given.value("preset", "toy"),
           .model = model,
           .score = score_names().at(static_cast<int64_t>(usual_score(kind))),
           .position = "sinusoidal",
           .norm = "post",
           .shards = kShards};
  const Preset& preset = preset_by_name(r.preset);
  r.examples = preset.examples;
  r.lr = preset.lr;
  r.warmup_steps = preset.warmup_steps;
  r.epochs = preset.epochs;
  r.dropout = preset.dropout;
  r.average = preset.average;
  r.length = std::max(preset.length, longest_sentence(r.data) + 1);
  if (is_embedded(r.data)) suit_embedded(r);
  return r;
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

/// A file may hold anything, options do not. ValueError or json::exception for what they never give.
void expect_possible(const json& all) {
  const json usual = Recipe{};
  for (const auto& [key, value] : usual.items())
    if (value.is_number_integer() && key != "seed") whole_number_at(all, key, 0, kMostCount);
  whole_number_at(all, "shards", 1, kMostShards);
  if (!all.at("seed").is_number_unsigned())
    raise<ValueError>("wanted \"seed\" to be a whole number of 0 or more, came none");
  if (!(all.at("lr").get<double>() > 0))
    raise<ValueError>("wanted \"lr\" above 0, came {}", all.at("lr").dump());
}

}  // namespace

Recipe make_recipe(const json& given) {
  json all = defaults(given);
  all.update(given);
  all.update(how_long(given));
  auto recipe = all.get<Recipe>();
  expect_belongs(given, "attentive", recipe.model, "bahdanau");
  expect_belongs(given, "position", recipe.model, "transformer");
  expect_belongs(given, "norm", recipe.model, "transformer");
  return recipe;
}

Recipe continued(const Recipe& recipe, const json& given) {
  json all = recipe;
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
  return all.get<Recipe>();
}

Architecture architecture_of(const Recipe& recipe) {
  Architecture architecture = architecture_of(preset_by_name(recipe.preset),
                                              static_cast<ModelKind>(model_names().place(recipe.model)));
  architecture.dropout = recipe.dropout;
  architecture.length = recipe.length;
  architecture.score = static_cast<nn::ScoreKind>(score_names().place(recipe.score));
  architecture.attentive = recipe.attentive;
  architecture.position = static_cast<nn::PositionKind>(position_names().place(recipe.position));
  architecture.norm = static_cast<nn::NormPlace>(norm_names().place(recipe.norm));
  return architecture;
}

void save_recipe(const std::filesystem::path& path, const Recipe& recipe) {
  const std::string text = json(recipe).dump(2) + "\n";
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(text))); });
}

Recipe load_recipe(const std::filesystem::path& path) {
  const std::string text = read_small_file("train", path);
  json all{{"shards", 1}, {"average", 0}};
  try {
    all.update(json::parse(text));
    expect_possible(all);
    auto recipe = all.get<Recipe>();
    architecture_of(recipe);  // of names that there are
    return recipe;
  } catch (const std::exception& problem) {
    raise<FileError>("[train] {}: not a training's recipe: {}", path.string(), problem.what());
  }
}

}  // namespace heed::translate
