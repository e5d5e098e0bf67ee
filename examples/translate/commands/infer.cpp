#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "translate/commands/commands.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

struct InferCommand {
  std::string folder;
  std::vector<std::string> texts;  ///< lines of standard input when empty
};

void run(const InferCommand& command) {
  Translator translator = Translator::load(command.folder);
  std::vector<std::string> texts = command.texts;
  if (texts.empty())
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  for (const std::string& translation : translator.translate(texts)) fmt::print("{}\n", translation);
}

}  // namespace

void add_infer(CLI::App& app) {
  CLI::App* infer = app.add_subcommand("infer", "Translate sentences, one translation a line");
  const auto command = std::make_shared<InferCommand>();
  infer->add_option("--dir", command->folder, "A folder that `train` wrote")->required();
  infer->add_option("TEXT", command->texts, "Sentences; else the lines of standard input");
  infer->callback([command] { run(*command); });
}

}  // namespace heed::translate
