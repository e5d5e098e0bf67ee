#include "gradient_flow/commands.h"

#include <fmt/format.h>
#include <heed/tensor/error.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gradient_flow/align.h"
#include "gradient_flow/memory.h"
#include "gradient_flow/norm.h"
#include "gradient_flow/paths.h"
#include "gradient_flow/scale.h"
#include "translate/commands/options.h"

namespace heed::gradient_flow {
namespace {

using translate::from;

template <class Options>
struct Command {
  CLI::App& app;
  std::shared_ptr<Options> options;
};

/// A subcommand with --seed and --out that measures with its options and shows what `measure` gives.
template <class Options, class Measure>
Command<Options> add(CLI::App& app, const char* name, const char* what, Measure measure) {
  CLI::App* command = app.add_subcommand(name, what);
  const auto options = std::make_shared<Options>();
  const auto page = std::make_shared<std::string>();
  command->add_option("--seed", options->seed, "Of all random numbers")
      ->capture_default_str()
      ->check(translate::is_seed())
      ->type_name("N");
  command->add_option("--out", *page, "Write a page with the curves to this file")->type_name("FILE.html");
  translate::add_threads_option(*command);
  command->callback([options, page, measure] { show(findings_of(measure(*options)), *page); });
  return {*command, options};
}

void add_count(CLI::App& command, const char* option, int64_t& value, const char* what, int64_t least = 1) {
  command.add_option(option, value, what)->capture_default_str()->type_name("N")->check(from(least));
}

/// One of the names of an enumeration's values.
template <class Enum>
void add_choice(CLI::App& command, const char* option, Enum& value, const translate::Names& names,
                const char* what) {
  const auto choose = [&value, names](const std::string& name) {
    try {
      value = static_cast<Enum>(names.place(name));
    } catch (const ValueError& problem) {
      throw CLI::ValidationError(problem.what());
    }
  };
  command.add_option_function<std::string>(option, choose, fmt::format("{}: {}", what, names.listed()))
      ->default_str(names.at(static_cast<int64_t>(value)))
      ->type_name("NAME");
}

}  // namespace

void add_norm(CLI::App& app) {
  const auto command =
      add<NormOptions>(app, "norm", "Pre-norm and post-norm: the gradient before any training", measure_norm);
  add_count(command.app, "--width", command.options->width, "Of the model");
  add_count(command.app, "--batch", command.options->batch, "Sentence pairs of the embedded corpus");
  add_count(command.app, "--seeds", command.options->seeds, "First weights to take the mean of");
}

void add_scale(CLI::App& app) {
  const auto command =
      add<ScaleOptions>(app, "scale", "Why 1 / sqrt(d): what comes through softmax", measure_scale);
  add_count(command.app, "--queries", command.options->queries, "How many to take the mean of");
  add_count(command.app, "--keys", command.options->keys, "How many each query chooses from", 2);
}

void add_memory(CLI::App& app) {
  using translate::Task;
  const auto command = add<MemoryOptions>(
      app, "memory", "Two GRUs with and without attention: far words, long sentences", measure_memory);
  add_choice(command.app, "--task", command.options->task, {"task", {"copy", "reverse"}}, "What is learned");
  add_count(command.app, "--longest", command.options->longest, "Letters of a sentence, at the most", 4);
  add_count(command.app, "--width", command.options->width, "Of the models");
  add_count(command.app, "--steps", command.options->steps, "Of training");
  add_count(command.app, "--sentences", command.options->sentences, "To keep out of training and translate");
}

void add_paths(CLI::App& app) {
  const auto command = add<PathsOptions>(
      app, "paths", "Query, key, value and residual: by which path gradient comes to each layer",
      measure_paths);
  add_count(command.app, "--layers", command.options->layers, "Of each model");
  add_count(command.app, "--width", command.options->width, "Of each model");
  add_count(command.app, "--heads", command.options->heads, "Of the model with several");
  add_count(command.app, "--length", command.options->length,
            "Of the sequences, which are told back to front");
  add_count(command.app, "--steps", command.options->steps, "Of training");
}

void add_align(CLI::App& app) {
  const auto command = add<AlignOptions>(
      app, "align", "Attention that aligns: each head's error rate while a translator learns", measure_align);
  add_choice(command.app, "--model", command.options->model, translate::model_names(), "What translates");
  add_count(command.app, "--pairs", command.options->pairs, "Of the embedded corpus", 2);
  add_count(command.app, "--sentences", command.options->sentences, "To keep out of training and align");
  add_count(command.app, "--steps", command.options->steps, "Of training");
  add_count(command.app, "--every", command.options->every, "Steps between measurements");
}

}  // namespace heed::gradient_flow
