#include "gradient_flow/commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gradient_flow/norm.h"
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
      ->type_name("N");
  command->add_option("--out", *page, "Write a page with the curves to this file")->type_name("FILE.html");
  translate::add_threads_option(*command);
  command->callback([options, page, measure] { show(findings_of(measure(*options)), *page); });
  return {*command, options};
}

void add_count(CLI::App& command, const char* option, int64_t& value, const char* what, int64_t least = 1) {
  command.add_option(option, value, what)->capture_default_str()->type_name("N")->check(from(least));
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

}  // namespace heed::gradient_flow
