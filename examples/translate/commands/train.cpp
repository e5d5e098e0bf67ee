#include <fmt/format.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>
#include <spdlog/spdlog.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "translate/commands/commands.h"
#include "translate/corpus/corpus.h"
#include "translate/training.h"

namespace heed::translate {
namespace {

struct TrainCommand {
  std::string data;  ///< a file of sentence pairs; the embedded corpus when empty
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
constexpr int64_t kCorpusHoldout = 12;
constexpr int64_t kFileEpochs = 100;
constexpr size_t kShownSentences = 6;

/// The held-out sources are the same in every run, whatever the seed: a property of the sentence alone.
bool is_held_out(const SentencePair& pair, int64_t holdout) {
  const std::string source = joined(pair.source);
  return crc32(0, reinterpret_cast<const Bytef*>(source.data()), static_cast<uInt>(source.size())) %
             static_cast<uint64_t>(holdout) ==
         0;
}

std::vector<SentencePair> load_pairs(const TrainCommand& command, const Preset& preset) {
  if (command.data.empty()) return corpus(command.examples.value_or(kCorpusExamples), 0);
  LoadedPairs loaded = read_pairs(command.data, command.examples.value_or(preset.examples));
  for (const std::string& problem : loaded.report.problems) spdlog::warn("{}: {}", command.data, problem);
  if (loaded.report.skipped > 0) spdlog::warn("{}: {} lines skipped", command.data, loaded.report.skipped);
  return std::move(loaded.pairs);
}

struct Split {
  std::vector<SentencePair> training, held_out;
};

Split split(std::vector<SentencePair> pairs, int64_t holdout) {
  Split result;
  for (SentencePair& pair : pairs)
    (holdout > 0 && is_held_out(pair, holdout) ? result.held_out : result.training)
        .push_back(std::move(pair));
  if (result.training.empty())
    raise<ValueError>("[train] wanted pairs to train on, came {} and all are held out",
                      result.held_out.size());
  return result;
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
  const bool embedded = command.data.empty();
  auto [training, held_out] =
      split(load_pairs(command, preset), command.holdout.value_or(embedded ? kCorpusHoldout : 0));

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
  train->add_option("--data", command->data,
                    "Sentence pairs, source TAB target per line; else the embedded corpus");
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
