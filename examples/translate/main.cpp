#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "translate/commands.h"

namespace {

using namespace heed::translate;

constexpr int kFailed = 1, kBadUsage = 2;

void add_train(CLI::App& app, TrainCommand& command) {
  CLI::App* train = app.add_subcommand("train", "Train a translator and save it to a folder");
  train->add_option("--data", command.data,
                    "Sentence pairs, source TAB target per line; else the embedded corpus");
  train->add_option("--model", command.model, "bahdanau or transformer")->capture_default_str();
  train->add_option("--preset", command.preset, "Sizes: toy, small or base")->capture_default_str();
  train->add_option("--examples", command.examples, "How many pairs to read")->check(CLI::PositiveNumber);
  train->add_option("--epochs", command.epochs, "Passes over the pairs")->check(CLI::PositiveNumber);
  train->add_option("--holdout", command.holdout, "Keep out the sources with crc32(source) % M == 0")
      ->check(CLI::PositiveNumber);
  train->add_option("--lr", command.lr, "Adam's learning rate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  train->add_option("--seed", command.seed, "Of first weights, dropout and order")->capture_default_str();
  train->add_option("--threads", command.threads, "Default: the processors that may be used")
      ->check(CLI::PositiveNumber);
  train->add_option("--out", command.out, "The folder that the model goes to")->required();
  train->callback([&command] { run(command); });
}

void add_infer(CLI::App& app, InferCommand& command) {
  CLI::App* infer = app.add_subcommand("infer", "Translate sentences, one translation a line");
  infer->add_option("--dir", command.folder, "A folder that `train` wrote")->required();
  infer->add_option("TEXT", command.texts, "Sentences; else the lines of standard input");
  infer->callback([&command] { run(command); });
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("translate"));
  spdlog::set_pattern("%v");
  CLI::App app{"Trains a small English-French translator and asks it for translations"};
  app.require_subcommand(1);
  TrainCommand train;
  InferCommand infer;
  add_train(app, train);
  add_infer(app, infer);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadUsage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "translate: {}\n", problem.what());
    return kFailed;
  }
  return 0;
}
