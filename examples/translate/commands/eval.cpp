#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "translate/checkpoint.h"
#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/commands/report.h"
#include "translate/data/dataset.h"
#include "translate/data/split.h"
#include "translate/eval/evaluation.h"

namespace heed::translate {
namespace {

struct EvalCommand {
  std::string folder;
  Given given = std::make_shared<nlohmann::json>(nlohmann::json::object());  ///< of the data
  int64_t beam = 1;
  bool strict = false;
  bool json = false;
};

/// The pairs to score, and those to choose an attention head on.
struct Parts {
  std::vector<SentencePair> test, validation;
};

/// All pairs are scored. Heads have to be chosen on other sources than those whose error rate is told, so
/// of the alignments one half is for choosing, and only the other half counts.
Parts parts_of_whole(std::vector<SentencePair> pairs) {
  Parts parts{std::move(pairs), {}};
  for (SentencePair& pair : parts.test) {
    if (source_checksum(pair.source) % 2 == 0 || pair.alignment.empty()) continue;
    parts.validation.push_back(pair);
    pair.alignment.clear();
  }
  return parts;
}

/// Which pairs, and which of them.
struct Selected {
  std::string data;
  int64_t examples = 0;  ///< 0: all
  int64_t holdout = 0;   ///< 0: all
};

/// What was asked for, and for the rest what the training of this folder, if it tells of it, kept out.
Selected selected(const EvalCommand& command) {
  const std::filesystem::path path = recipe_path(command.folder);
  const nlohmann::json& given = *command.given;
  const bool is_told = std::filesystem::exists(path);
  const Recipe recipe = is_told ? load_recipe(path) : Recipe{};
  Selected selected{given.value("data", recipe.data), 0, 0};
  const bool as_trained = is_told && selected.data == recipe.data;
  const bool same = as_trained || !(is_embedded(selected.data) || is_embedded(recipe.data));
  const int64_t embedded_holdout = is_embedded(selected.data) ? kEmbeddedHoldout : 0;
  selected.holdout = given.value("holdout", as_trained ? recipe.holdout : embedded_holdout);
  const bool of_training = as_trained || (same && selected.holdout > 1);
  selected.examples = given.value("examples", of_training ? recipe.examples : 0);
  if (as_trained && selected.holdout == 0)
    spdlog::warn("nothing is kept out: these are sentences that it was trained on");
  return selected;
}

Parts load_parts(const EvalCommand& command) {
  const Selected which = selected(command);
  LoadedPairs loaded = load_pairs(which.data, {.limit = which.examples, .strict = command.strict});
  warn_of_skipped(which.data, loaded.report);
  if (which.holdout <= 1) return parts_of_whole(std::move(loaded.pairs));
  const size_t all = loaded.pairs.size();
  Split parts = split(std::move(loaded.pairs), {.holdout = which.holdout, .validation = true});
  if (parts.test.empty())
    raise<ValueError>("[eval] wanted sources with crc32(source) % {} == 0, came none in {} pairs",
                      which.holdout, all);
  return {std::move(parts.test), std::move(parts.validation)};
}

void print_json(const EvalCommand& command, const Evaluation& result) {
  nlohmann::ordered_json json = {{"sources", result.sources},
                                 {"pairs", result.pairs},
                                 {"beam", command.beam},
                                 {"bleu", 100 * result.bleu.score},
                                 {"brevity_penalty", result.bleu.brevity_penalty},
                                 {"exact_match", result.exact_match},
                                 {"token_accuracy", result.predictions.token_accuracy},
                                 {"loss", result.predictions.loss},
                                 {"loss_floor", result.predictions.floor},
                                 {"target_tokens", result.predictions.tokens}};
  if (result.alignment) {
    json["alignment_error_rate"] = result.alignment->error_rate;
    json["alignment_error_rate_lowest"] = result.alignment->lowest;
    json["alignment_error_rate_validation"] = result.alignment->chosen_with;
    json["alignment_layer"] = result.alignment->head.layer;
    json["alignment_head"] = result.alignment->head.head;
  }
  fmt::print("{}\n", json.dump());
}

void print_text(const Evaluation& result) {
  const Predictions& predictions = result.predictions;
  fmt::print("{} sources with {} translations\n", result.sources, result.pairs);
  fmt::print("BLEU                  {:.2f} (brevity penalty {:.3f})\n", 100 * result.bleu.score,
             result.bleu.brevity_penalty);
  fmt::print("exact match           {:.1f}%\n", 100 * result.exact_match);
  fmt::print("token accuracy        {:.1f}% of {}\n", 100 * predictions.token_accuracy, predictions.tokens);
  fmt::print("loss                  {:.4f} nats per target token (floor {:.4f})\n", predictions.loss,
             predictions.floor);
  if (!result.alignment) return;
  const BestHead& best = *result.alignment;
  fmt::print(
      "alignment error rate  {:.3f} (lowest possible {:.3f}) by layer {}, head {}, chosen with {:.3f}\n",
      best.error_rate, best.lowest, best.head.layer, best.head.head, best.chosen_with);
}

void run(const EvalCommand& command) {
  Translator translator = Translator::load(command.folder);
  const Parts parts = load_parts(command);
  const Evaluation result = evaluate(translator, parts.test, parts.validation, command.beam);
  command.json ? print_json(command, result) : print_text(result);
}

constexpr auto kFooter =
    "BLEU is that of sacreBLEU with --tokenize none and no smoothing, on cleaned words; all translations of "
    "a\n"
    "source are its references. The loss and the token accuracy are told with the true words fed back, and "
    "the\n"
    "alignment error rate, where the data has gold alignments, likewise: each target word is linked to the\n"
    "source word that an attention head looks at most in the step that predicts it. The head is chosen on\n"
    "sources that are not scored: those with crc32(source) % M == 1, or half of them without --holdout.\n"
    "With --json one object is printed: bleu in [0, 100], exact_match and token_accuracy in [0, 1].\n\n"
    "Examples: translate eval --dir model\n"
    "          translate eval --dir model --data fra.txt --holdout 17 --beam 4 --json";

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* eval = app.add_subcommand("eval", "Score a translator on sentences that it has not seen");
  const auto command = std::make_shared<EvalCommand>();
  const Given& given = command->given;
  eval->add_option("--dir", command->folder, "A folder that `train` wrote")->required()->type_name("DIR");
  add_data_option(*eval, given, std::string(kDataHelp) + "; the default is what it was trained on");
  eval->add_flag("--strict", command->strict, kStrictHelp);
  add_examples_option(*eval, given,
                      "How many pairs to read; the default is all, with --holdout as in training");
  add_count(
      *eval, given, "--holdout",
      "Score the sources with crc32(source) % N == 0 alone; 0: all; the default is as in training, and all "
      "of other data")
      ->check(from(0));
  eval->add_option("--beam", command->beam, "Hypotheses that a search keeps; 1 takes the likeliest words")
      ->capture_default_str()
      ->type_name("K")
      ->check(from(1));
  eval->add_flag("--json", command->json, "Print one JSON object");
  add_threads_option(*eval);
  eval->footer(kFooter);
  eval->callback([command] { run(*command); });
}

}  // namespace heed::translate
