#include <fmt/format.h>
#include <heed/tensor/error.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "translate/alignment_picture.h"
#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/data/text.h"
#include "translate/line_stream.h"
#include "translate/standard_streams.h"
#include "translate/terminal.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

struct InferCommand {
  std::string folder;
  TranslateOptions options;
  std::vector<std::string> texts;  ///< lines of standard input when empty
};

constexpr int kUsualColumns = 80;
constexpr size_t kLinesAtOnce = 1024;

void print(const std::vector<Translation>& translations, const InferCommand& command) {
  const int columns = output_columns() > 0 ? output_columns() : kUsualColumns;
  for (const Translation& translation : translations) {
    fmt::print("{}\n", translation.text);
    if (command.options.attention && translation.attention.defined())
      fmt::print("\n{}\n", alignment_picture(translation, columns));
  }
  flush_output();
}

/// ValueError, which says where the sentence stands, when it is no text.
void expect_text(const std::string& sentence, std::string_view kind, size_t number) {
  try {
    words(sentence);
  } catch (const ValueError& problem) {
    raise<ValueError>("[infer] {} {}: {}", kind, number, problem.what());
  }
}

/// Many lines at a time where so many have come, and what has come to someone who waits for the answer. Lines
/// before one that cannot be read are translated, too.
void translate_lines(Translator& translator, const InferCommand& command) {
  LineStream input(STDIN_FILENO, "standard input");
  std::vector<std::string> lines;
  const auto answer = [&] {
    print(translator.translate(lines, command.options), command);
    lines.clear();
  };
  const auto read_line = [&] {
    try {
      const bool any = input.next();
      if (any) expect_text(input.text(), "line", input.number());
      return any;
    } catch (const Error&) {
      answer();
      throw;
    }
  };
  while (read_line()) {
    lines.push_back(input.text());
    if (lines.size() == kLinesAtOnce || input.is_waiting()) answer();
  }
  answer();
}

void run(const InferCommand& command) {
  Translator translator = Translator::load(command.folder);
  if (command.texts.empty()) return translate_lines(translator, command);
  for (size_t i = 0; i < command.texts.size(); ++i) expect_text(command.texts[i], "sentence", i + 1);
  print(translator.translate(command.texts, command.options), command);
}

}  // namespace

void add_infer(CLI::App& app) {
  CLI::App* infer = app.add_subcommand("infer", "Translate sentences, one translation a line");
  const auto command = std::make_shared<InferCommand>();
  infer->add_option("--dir", command->folder, "A folder that `train` wrote")->required()->type_name("DIR");
  infer
      ->add_option("--beam", command->options.beam,
                   "Hypotheses to keep; 1 takes the likeliest word each time")
      ->capture_default_str()
      ->type_name("K")
      ->check(from(1));
  infer
      ->add_option("--length-penalty", command->options.length_penalty,
                   "Hypotheses are ranked by log-probability / length^penalty")
      ->capture_default_str()
      ->check(from(0));
  infer->add_flag("--show-attention", command->options.attention,
                  "Draw which source words each word came from");
  infer->add_flag("--replace-unk", command->options.replace_unknown,
                  "Put the source word that was looked at most for each <unk>");
  add_threads_option(*infer);
  infer->add_option("TEXT", command->texts, "Sentences; else the lines of standard input");
  infer->callback([command] { run(*command); });
}

}  // namespace heed::translate
