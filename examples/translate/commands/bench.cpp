#include <fmt/format.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/training.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

struct BenchCommand {
  Given given = std::make_shared<nlohmann::json>(nlohmann::json::object());
  int64_t steps = 30;
  int64_t warmup = 5;
  bool json = false;
};

/// What the timed steps of a training took.
struct Timing {
  std::vector<double> seconds;  // of each step, the shortest first
  int64_t tokens = 0;
  double loss = 0;  // of the last step

  double median() const {
    const size_t middle = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  }
};

Timing measure(Training& training, const BenchCommand& command) {
  Timing timing;
  for (int64_t i = 0; i < command.warmup + command.steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const StepReport report = training.step();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    timing.loss = report.loss;
    if (i < command.warmup) continue;
    timing.seconds.push_back(took.count());
    timing.tokens += report.tokens;
  }
  std::ranges::sort(timing.seconds);
  return timing;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The same keys as the PyTorch peer prints.
nlohmann::ordered_json to_json(const Recipe& recipe, Translator& translator, const Timing& timing) {
  const Preset& preset = preset_by_name(recipe.preset);
  const auto steps = static_cast<double>(timing.seconds.size());
  return {{"peer", "heed"},
          {"model", recipe.model},
          {"preset", recipe.preset},
          {"threads", num_threads()},
          {"dtype", "f32"},
          {"params", translator.model().parameter_count()},
          {"vocab", {translator.source().size(), translator.target().size()}},
          {"batch", preset.batch},
          {"length", preset.length},
          {"loss", timing.loss},
          {"ms_per_step", timing.median() * 1e3},
          {"min_ms", timing.seconds.front() * 1e3},
          {"tokens_per_s", static_cast<double>(timing.tokens) / steps / timing.median()},
          {"peak_rss_mb", peak_memory_mb()}};
}

/// Every step is to be the same work: an epoch must not end in a batch of fewer examples.
void drop_incomplete_batch(std::vector<Encoded>& examples, int64_t batch) {
  const auto size = static_cast<size_t>(batch);
  if (examples.size() > size) examples.resize(examples.size() / size * size);
}

void run(const BenchCommand& command) {
  const Recipe recipe = recipe_given(*command.given);
  const Preset& preset = preset_by_name(recipe.preset);
  const Split data = load_data(recipe);
  manual_seed(recipe.seed);
  Translator translator(architecture_of(recipe), Vocabulary(sources(data.training), preset.min_frequency),
                        Vocabulary(targets(data.training), preset.min_frequency));
  auto examples = encode_pairs(data.training, translator.source(), translator.target(), preset.length);
  drop_incomplete_batch(examples, preset.batch);
  Training training(translator.model(), examples,
                    {.batch = preset.batch,
                     .length = preset.length,
                     .lr = optim::constant(recipe.lr),
                     .shards = recipe.shards});
  const auto result = to_json(recipe, translator, measure(training, command));
  if (command.json)
    fmt::print("{}\n", result.dump());
  else
    for (const auto& [key, value] : result.items()) fmt::print("{:<13}{}\n", key, value.dump());
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench =
      app.add_subcommand("bench", "Time training steps, on batches of the preset's full length");
  const auto command = std::make_shared<BenchCommand>();
  add_data_options(*bench, command->given);
  add_model_options(*bench, command->given);
  bench->add_option("--steps", command->steps, "Steps that are timed")
      ->capture_default_str()
      ->type_name("N")
      ->check(from(1));
  bench->add_option("--warmup", command->warmup, "Steps before these")
      ->capture_default_str()
      ->type_name("N")
      ->check(from(0));
  add_seed_option(*bench, command->given);
  add_shards_option(*bench, command->given);
  add_threads_option(*bench);
  bench->add_flag("--json", command->json, "One line of JSON");
  bench->callback([command] { run(*command); });
}

}  // namespace heed::translate
