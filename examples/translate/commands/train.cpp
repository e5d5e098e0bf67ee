#include <fmt/format.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "translate/commands/commands.h"
#include "translate/commands/report.h"
#include "translate/data/dataset.h"
#include "translate/data/split.h"
#include "translate/training.h"

namespace heed::translate {
namespace {

struct TrainCommand {
  std::string data;  ///< as load_pairs() has it
  bool strict = false;
  std::string model = "transformer";
  std::string preset = "toy";
  std::optional<int64_t> examples;
  std::optional<int64_t> epochs;
  std::optional<int64_t> holdout;  ///< sources with crc32(source) % holdout == 0 are kept out of training
  double lr = 0.005;
  uint64_t seed = 0;
  std::optional<int> threads;
  std::string out;
};

/// The embedded corpus is larger and its sentences longer than the toy set: these make a good translator of
/// it.
constexpr int64_t kCorpusExamples = 6000;
constexpr int64_t kCorpusEpochs = 20;
constexpr int64_t kFileEpochs = 100;
constexpr size_t kShownSentences = 6;

/// How many pairs are read when no number is given.
int64_t default_examples(const std::string& data, const Preset& preset) {
  if (data.empty()) return kCorpusExamples;
  return is_embedded(data) ? 0 : preset.examples;
}

Split load_split(const TrainCommand& command, const Preset& preset) {
  LoadedPairs loaded = load_pairs(
      command.data,
      {.limit = command.examples.value_or(default_examples(command.data, preset)), .strict = command.strict});
  warn_of_skipped(command.data, loaded.report);
  const int64_t holdout = command.holdout.value_or(is_embedded(command.data) ? kEmbeddedHoldout : 0);
  Split parts = split(std::move(loaded.pairs), {.holdout = holdout});
  if (parts.training.empty())
    raise<ValueError>("[train] wanted pairs to train on, came {} and all are held out", parts.test.size());
  return parts;
}

/// Translates the sentences that were kept out, and prints the first few beside their references.
void show_unseen(Translator& translator, const std::vector<SentencePair>& held_out) {
  std::vector<std::string> sources;
  sources.reserve(held_out.size());
  for (const SentencePair& pair : held_out) sources.push_back(joined(pair.source));
  const auto translations = translator.translate(sources);
  size_t exact = 0;
  fmt::print("Sentences that it has not seen:\n");
  for (size_t i = 0; i < held_out.size(); ++i) {
    const std::string reference = joined(held_out[i].target);
    exact += translations[i] == reference;
    if (i < kShownSentences)
      fmt::print("  {}\n    translation  {}\n    reference    {}\n", sources[i], translations[i], reference);
  }
  fmt::print("Of {} such sentences, {} are translated exactly as their reference ({:.1f}%).\n",
             held_out.size(), exact,
             100.0 * static_cast<double>(exact) / static_cast<double>(held_out.size()));
}

/// Made before the training, so that hours of it are not lost to a folder that cannot be.
void make_folder(const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) raise<FileError>("[train] {}: cannot make this folder: {}", path, problem.message());
}

void run(const TrainCommand& command) {
  const Preset& preset = preset_by_name(command.preset);
  const ModelKind kind = model_kind_by_name(command.model);
  if (command.threads) set_num_threads(*command.threads);
  const bool embedded = is_embedded(command.data);
  const Split parts = load_split(command, preset);
  const std::vector<SentencePair>&training = parts.training, &held_out = parts.test;

  make_folder(command.out);
  manual_seed(command.seed);
  Translator translator(architecture_of(preset, kind), Vocabulary(sources(training), preset.min_frequency),
                        Vocabulary(targets(training), preset.min_frequency));
  spdlog::info("{} {}: {} parameters, {} pairs, {} + {} words, {} threads", command.preset, command.model,
               translator.model().parameter_count(), training.size(), translator.source().size(),
               translator.target().size(), num_threads());
  const auto examples = encode_pairs(training, translator.source(), translator.target(), preset.length);
  const auto result = train(translator, examples,
                            {.epochs = command.epochs.value_or(embedded ? kCorpusEpochs : kFileEpochs),
                             .batch = preset.batch,
                             .lr = command.lr,
                             .seed = command.seed});
  translator.save(command.out);
  spdlog::info("loss {:.4f} nats per target token (floor {:.4f}), {:.0f} tokens/s, {:.1f} s; saved to {}",
               result.loss, result.floor, result.tokens_per_second, result.seconds, command.out);
  if (!held_out.empty()) show_unseen(translator, held_out);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand("train", "Train a translator and save it to a folder");
  const auto command = std::make_shared<TrainCommand>();
  train->add_option("--data", command->data, kDataHelp);
  train->add_flag("--strict", command->strict, kStrictHelp);
  train->add_option("--model", command->model, "bahdanau or transformer")->capture_default_str();
  train->add_option("--preset", command->preset, "Sizes: toy, small or base")->capture_default_str();
  train->add_option("--examples", command->examples, "How many pairs to read")->check(CLI::PositiveNumber);
  train->add_option("--epochs", command->epochs, "Passes over the pairs")->check(CLI::PositiveNumber);
  train->add_option("--holdout", command->holdout, "Keep out the sources with crc32(source) % M == 0")
      ->check(CLI::PositiveNumber);
  train->add_option("--lr", command->lr, "Adam's learning rate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  train->add_option("--seed", command->seed, "Of first weights, dropout and order")->capture_default_str();
  train->add_option("--threads", command->threads, "Default: the processors that may be used")
      ->check(CLI::PositiveNumber);
  train->add_option("--out", command->out, "The folder that the model goes to")->required();
  train->callback([command] { run(*command); });
}

}  // namespace heed::translate
