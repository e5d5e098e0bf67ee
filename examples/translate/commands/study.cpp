#include <fmt/format.h>
#include <heed/study/record_files.h>
#include <heed/tensor/files/atomic_file.h>

#include <CLI/CLI.hpp>
#include <span>

#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/sentence_study.h"

namespace heed::translate {
namespace {

struct StudyCommand {
  std::string folder, text, target, page, tensors, statistics;
};

void write_text(const std::string& path, const std::string& text) {
  write_file_atomically(path, [&](FileWriter& file) { file.write(std::as_bytes(std::span(text))); });
}

void run(const StudyCommand& command) {
  Translator translator = Translator::load(command.folder);
  const std::string target =
      command.target.empty() ? translator.translate({command.text})[0] : command.target;
  const SentenceStudy studied = study_sentence(translator, words(command.text), words(target));
  study::write_report(command.page, sentence_report(translator, studied, command.folder));
  if (!command.tensors.empty()) study::save_tensors(command.tensors, studied.record);
  if (!command.statistics.empty()) write_text(command.statistics, study::to_json(studied.record) + "\n");
  fmt::print("{}\n{}\nloss {:.4f} nats per token; {} attention layers in {}\n", command.text, target,
             studied.loss, studied.record.attention.size(), command.page);
}

}  // namespace

void add_study(CLI::App& app) {
  CLI::App* study = app.add_subcommand(
      "study", "Show what flows through the model for one sentence: attention and its gradients, as a page");
  const auto command = std::make_shared<StudyCommand>();
  study->add_option("--dir", command->folder, "A folder that `train` wrote")->required()->type_name("DIR");
  study->add_option("--text", command->text, "The sentence")->required();
  study->add_option("--target", command->target, "Its translation; else what the model makes of it");
  study->add_option("--out", command->page, "Where the page goes: one HTML file")
      ->required()
      ->type_name("FILE");
  study->add_option("--tensors", command->tensors, "All values and gradients, as safetensors")
      ->type_name("FILE");
  study
      ->add_option("--statistics", command->statistics,
                   "Numbers of each head and parameter, as a line of JSON")
      ->type_name("FILE");
  add_threads_option(*study);
  study->callback([command] { run(*command); });
}

}  // namespace heed::translate
