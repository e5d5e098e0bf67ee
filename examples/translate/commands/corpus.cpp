#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/corpus/corpus.h"

namespace heed::translate {
namespace {

struct CorpusCommand {
  int64_t pairs = 0;
  uint64_t seed = 0;
};

void run(const CorpusCommand& command) {
  for (const CorpusEntry& entry :
       corpus_entries(command.pairs > 0 ? command.pairs : corpus_size(), command.seed))
    fmt::print("{}\t{}\t{}\n", entry.source, entry.target, format_alignment(entry.alignment));
}

}  // namespace

void add_corpus(CLI::App& app) {
  CLI::App* corpus = app.add_subcommand("corpus", "Print the embedded English-French corpus");
  const auto command = std::make_shared<CorpusCommand>();
  corpus->add_option("--pairs", command->pairs, "How many pairs; else all")->type_name("N")->check(from(1));
  corpus->add_option("--seed", command->seed, "Of the order that they come in")
      ->capture_default_str()
      ->check(is_seed());
  corpus->footer(
      "A line has the source, the target, and the links between their words, counted from 0, with tabs\n"
      "between: the format that --data reads.\n\n"
      "Example: translate corpus --pairs 1000 --seed 3 > pairs.tsv");
  corpus->callback([command] { run(*command); });
}

}  // namespace heed::translate
