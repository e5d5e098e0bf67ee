#include <fmt/format.h>
#include <heed/tensor/files/atomic_file.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>

#include "translate/checkpoint.h"
#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/eval/evaluation.h"
#include "translate/session.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

struct TrainCommand {
  Given given = std::make_shared<nlohmann::json>(nlohmann::json::object());
  std::string out;
  bool resume = false;
  bool overwrite = false;
};

constexpr size_t kShownSentences = 6;
/// What a shell reports of a process that a signal ended.
constexpr int kSignalStatus = 128;

/// Translates the sources that were kept out, and prints the first few beside a reference.
void show_unseen(Translator& translator, const std::vector<SentencePair>& held_out) {
  const std::vector<Question> asked = questions(held_out);
  std::vector<std::string> texts;
  texts.reserve(asked.size());
  for (const Question& question : asked) texts.push_back(joined(question.source));
  const auto translations = translator.translate(texts);
  size_t exact = 0;
  fmt::print("Sentences that it has not seen:\n");
  for (size_t i = 0; i < asked.size(); ++i) {
    exact += std::ranges::count(asked[i].references, translations[i], joined) > 0;
    if (i < kShownSentences)
      fmt::print("  {}\n    translation  {}\n    reference    {}\n", texts[i], translations[i],
                 joined(asked[i].references.front()));
  }
  fmt::print("Of {} such sentences, {} are translated exactly as a reference ({:.1f}%).\n", asked.size(),
             exact, 100.0 * static_cast<double>(exact) / static_cast<double>(asked.size()));
}

/// Made before the training, so that hours of it are not lost to a folder that cannot be.
void make_folder(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem) raise<FileError>("[train] {}: cannot make this folder: {}", path.string(), problem.message());
}

optim::Schedule schedule_of(const Recipe& recipe) {
  if (recipe.warmup_steps == 0) return optim::constant(recipe.lr);
  return optim::inverse_sqrt({.peak = recipe.lr, .warmup = recipe.warmup_steps});
}

void report(const TrainCommand& command, const SessionResult& result, int64_t step, double floor) {
  spdlog::info("loss {:.4f} nats per target token (floor {:.4f}), {:.0f} tokens/s, {:.1f} s; saved to {}",
               result.loss, floor, result.tokens_per_second, result.seconds, command.out);
  if (result.signal == 0) return;
  spdlog::warn("stopped at step {} by {}; go on with: translate train --resume --out {}", step,
               result.signal == SIGINT ? "Ctrl-C" : "SIGTERM", command.out);
  throw CLI::RuntimeError(kSignalStatus + result.signal);
}

void run(const TrainCommand& command, const Recipe& recipe, const Split& data, Translator& translator) {
  spdlog::info("{} {}: {} parameters, {} pairs, {} + {} words, {} shards, {} threads", recipe.preset,
               recipe.model, translator.model().parameter_count(), data.training.size(),
               translator.source().size(), translator.target().size(), recipe.shards, num_threads());
  const auto examples =
      encode_pairs(data.training, translator.source(), translator.target(), translator.architecture().length);
  const double floor = loss_floor(examples);
  Training training(translator.model(), examples,
                    {.batch = preset_by_name(recipe.preset).batch,
                     .lr = schedule_of(recipe),
                     .average = recipe.average,
                     .bucket = recipe.bucket,
                     .shards = recipe.shards,
                     .seed = recipe.seed});
  if (command.resume) load_checkpoint(command.out, training);
  const int64_t steps = recipe.steps > 0 ? recipe.steps : recipe.epochs * training.steps_per_epoch();
  if (training.steps() > 0) spdlog::info("going on after step {} of {}", training.steps(), steps);
  remove_abandoned_files(command.out);
  save_recipe(recipe_path(command.out), recipe);
  const SessionResult result = run_session(training, translator, command.out, steps, floor);
  report(command, result, training.steps(), floor);
  const auto averaged = training.averaged();
  if (!data.test.empty()) show_unseen(translator, data.test);
}

void begin(const TrainCommand& command) {
  const Recipe recipe = recipe_given(*command.given);
  if (!command.overwrite) expect_unused(command.out);
  const Split data = load_data(recipe);
  const int64_t min_frequency = preset_by_name(recipe.preset).min_frequency;
  manual_seed(recipe.seed);
  Translator translator(architecture_of(recipe), Vocabulary(sources(data.training), min_frequency),
                        Vocabulary(targets(data.training), min_frequency));
  make_folder(command.out);
  clear_training(command.out);
  translator.save(command.out);
  run(command, recipe, data, translator);
}

void resume(const TrainCommand& command) {
  expect_training(command.out);
  const Recipe recipe = continued(load_recipe(recipe_path(command.out)), *command.given);
  Translator translator = Translator::load(command.out);
  if (translator.architecture() != architecture_of(recipe))
    raise<FileError>("[train] {}: its recipe.json and config.json tell of different models", command.out);
  run(command, recipe, load_data(recipe), translator);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a translator and save it to a folder");
  const auto command = std::make_shared<TrainCommand>();
  const Given& given = command->given;
  add_data_options(*train, given);
  add_model_options(*train, given);
  CLI::Option* epochs = add_count(*train, given, "--epochs", "Passes over the pairs")->check(from(1));
  add_count(*train, given, "--steps", "Batches, instead of passes")->check(from(1))->excludes(epochs);
  add_rate(*train, given, "--lr", "Adam's learning rate at its highest; the default is the preset's")
      ->check(above_zero());
  add_count(*train, given, "--warmup-steps",
            "Steps up to that rate, which then falls with their square root; 0: constant")
      ->check(from(0));
  add_rate(
      *train, given, "--average",
      "Saves the weights' moving average, which keeps so much of itself every tenth step, such as 0.98;\n"
      "0: the weights themselves; the default suits the preset and the data")
      ->check(CLI::Range(0.0, 0.9999));
  train->add_flag_callback(
      "--bucket", [given] { (*given)["bucket"] = true; },
      "Batches of sentences of about the same length, which have less padding");
  add_rate(*train, given, "--dropout", "From 0 to 1; the default suits the preset and the data")
      ->check(CLI::Range(0.0, 1.0));
  add_count(
      *train, given, "--length",
      "Words of a sentence at most, and the end marker; longer ones are cut; the default is the preset's")
      ->check(CLI::Range(int64_t{2}, Architecture::kLargestSize));
  add_seed_option(*train, given);
  add_shards_option(*train, given);
  add_threads_option(*train);
  train->add_option("--out", command->out, "The folder that the model and the checkpoint go to")
      ->required()
      ->type_name("DIR");
  CLI::Option* resume_flag =
      train->add_flag("--resume", command->resume, "Go on with the training in that folder, as it was begun");
  train
      ->add_flag("--overwrite", command->overwrite,
                 "Replace the model, or files of its names, in that folder")
      ->excludes(resume_flag);
  train->footer(
      "Ctrl-C ends the training after the step at hand, with a checkpoint from which --resume goes on to "
      "the\n"
      "same model as without the break. metrics.jsonl in the folder tells how the training went.");
  train->callback([command] { command->resume ? resume(*command) : begin(*command); });
}

}  // namespace heed::translate
