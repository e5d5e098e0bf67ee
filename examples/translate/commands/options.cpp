#include "translate/commands/options.h"

#include <heed/tensor/error.h>
#include <heed/tensor/threads.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "translate/commands/report.h"
#include "translate/data/dataset.h"
#include "translate/data/text.h"

namespace heed::translate {
namespace {

constexpr int kMostThreads = 1024;

/// In the order of spdlog::level.
const Names& log_level_names() {
  static const Names names("log-level", {"trace", "debug", "info", "warn", "error", "critical", "off"});
  return names;
}

/// Accepts what `check` does not throw a ValueError for.
CLI::Validator accepted_by(std::function<void(const std::string&)> check, const std::string& description) {
  const auto problem = [check = std::move(check)](std::string& text) -> std::string {
    try {
      check(text);
    } catch (const ValueError& error) {
      const std::string message = error.what();  // "[where] what": the option is told already
      return message.starts_with('[') ? message.substr(message.find("] ") + 2) : message;
    }
    return {};
  };
  return {problem, description, ""};
}

/// None for a text that is more or other than a finite T, for one that T cannot hold among them.
template <class T>
std::optional<T> number_of(const std::string& text) {
  T number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

CLI::Validator one_of(const Names& names) {
  return accepted_by([&names](const std::string& name) { names.place(name); }, names.listed());
}

std::string key_of(const std::string& option) {
  std::string key = option.substr(2);
  std::ranges::replace(key, '-', '_');
  return key;
}

CLI::Option* add_text(CLI::App& command, const Given& given, const std::string& option,
                      const std::string& help) {
  return command.add_option_function<std::string>(
      option, [given, key = key_of(option)](const std::string& text) { (*given)[key] = text; }, help);
}

/// The path of a file as it is known in every folder, so that a training can be taken up from another one.
std::string from_anywhere(const std::string& data) {
  return is_embedded(data) ? data : std::filesystem::absolute(data).lexically_normal().string();
}

void expect_data(const std::string& data) {
  if (data.empty()) raise<ValueError>("wanted a file, copy:N or reverse:N, came \"\"");
  clean(data);             // the recipe, in which it will stand, is text
  longest_sentence(data);  // which knows what N may be
}

/// A number, or all: 0.
int64_t examples_of(const std::string& text) {
  if (text == "all") return 0;
  const auto number = number_of<int64_t>(text);
  if (!number || *number < 1 || *number > kMostCount)
    raise<ValueError>("wanted \"all\" or a number from 1 to {}, came \"{}\"", kMostCount, text);
  return *number;
}

}  // namespace

CLI::Validator from(int64_t least, int64_t most) {
  return accepted_by(
      [least, most](const std::string& text) {
        const auto number = number_of<double>(text);
        if (!number || *number < static_cast<double>(least))
          raise<ValueError>("wanted a number of {} or more, came \"{}\"", least, text);
        if (*number > static_cast<double>(most))
          raise<ValueError>("wanted a number of {} or less, came \"{}\"", most, text);
      },
      "");
}

CLI::Validator above_zero() {
  return accepted_by(
      [](const std::string& text) {
        const auto number = number_of<double>(text);
        if (!number || *number <= 0) raise<ValueError>("wanted a number above 0, came \"{}\"", text);
      },
      "");
}

CLI::Validator is_seed() {
  return accepted_by(
      [](const std::string& text) {
        if (!number_of<uint64_t>(text))
          raise<ValueError>("wanted a whole number from 0 to {}, came \"{}\"", UINT64_MAX, text);
      },
      "");
}

CLI::Option* add_count(CLI::App& command, const Given& given, const std::string& option,
                       const std::string& help) {
  return command
      .add_option_function<int64_t>(
          option, [given, key = key_of(option)](int64_t value) { (*given)[key] = value; }, help)
      ->type_name("N");
}

CLI::Option* add_rate(CLI::App& command, const Given& given, const std::string& option,
                      const std::string& help) {
  return command.add_option_function<double>(
      option, [given, key = key_of(option)](double value) { (*given)[key] = value; }, help);
}

void add_model_options(CLI::App& command, const Given& given) {
  add_text(command, given, "--model", "The default is transformer")->check(one_of(model_names()));
  add_text(command, given, "--preset", "Sizes; the default is toy")
      ->check(accepted_by([](const std::string& name) { preset_by_name(name); }, "toy, small or base"));
  add_text(command, given, "--score",
           "How attention compares: additive, the default of bahdanau, or dot, that of transformer")
      ->check(one_of(score_names()));
  command.add_flag_function(
      "--attentive,!--no-attentive", [given](int64_t count) { (*given)["attentive"] = count > 0; },
      "A bahdanau whose attention looks at the word that it translates; the default for the embedded corpus");
  add_text(command, given, "--position", "How the transformer knows places; the default is sinusoidal")
      ->check(one_of(position_names()));
  add_text(command, given, "--norm", "Where the transformer's norms stand; the default is post")
      ->check(one_of(norm_names()));
}

void add_examples_option(CLI::App& command, const Given& given, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--examples", [given](const std::string& text) { (*given)["examples"] = examples_of(text); }, help)
      ->check(accepted_by([](const std::string& text) { examples_of(text); }, "N or all"));
}

void add_data_option(CLI::App& command, const Given& given, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--data", [given](const std::string& data) { (*given)["data"] = from_anywhere(data); }, help)
      ->type_name("FILE")
      ->check(accepted_by(expect_data, ""));
}

void add_data_options(CLI::App& command, const Given& given) {
  add_data_option(command, given, std::string(kDataHelp) + "; else the embedded corpus");
  command.add_flag_callback(
      "--strict", [given] { (*given)["strict"] = true; }, kStrictHelp);
  add_examples_option(command, given, "How many pairs to read; the default is the preset's");
  add_count(command, given, "--holdout",
            "Keep out of training the sources with crc32(source) % N == 0; 0: none")
      ->check(from(0));
}

void add_seed_option(CLI::App& command, const Given& given) {
  command
      .add_option_function<uint64_t>(
          "--seed", [given](uint64_t seed) { (*given)["seed"] = seed; },
          "Of first weights, dropout and order; the default is 0")
      ->type_name("N")
      ->check(is_seed());
}

void add_shards_option(CLI::App& command, const Given& given) {
  add_count(
      command, given, "--shards",
      "Parts of each batch that are computed at once, each by one thread; the default is 2, and as many\n"
      "as processors is quicker where there are more")
      ->check(from(1, kMostShards));
}

void add_threads_option(CLI::App& command) {
  command
      .add_option_function<int>(
          "--threads", [](int count) { set_num_threads(count); },
          "The default is HEED_NUM_THREADS, else the processors that may be used")
      ->type_name("N")
      ->check(CLI::Range(1, kMostThreads));
}

void add_log_options(CLI::App& command) {
  const Names& levels = log_level_names();
  command
      .add_option_function<std::string>(
          "--log-level",
          [&levels](const std::string& name) {
            spdlog::set_level(static_cast<spdlog::level::level_enum>(levels.place(name)));
          },
          "What is logged to standard error; the default is info")
      ->check(one_of(levels))
      ->group("Logging");
  command
      .add_flag_callback(
          "--quiet,-q", [] { spdlog::set_level(spdlog::level::warn); }, "Warnings and errors only")
      ->group("Logging");
  command
      .add_flag_callback(
          "--verbose,-v", [] { spdlog::set_level(spdlog::level::debug); }, "More than usual")
      ->group("Logging");
}

Recipe recipe_given(const nlohmann::json& given) {
  try {
    return make_recipe(given);
  } catch (const ValueError& problem) {
    throw UsageError(problem.what());
  }
}

Split load_data(const Recipe& recipe) {
  LoadedPairs loaded = load_pairs(recipe.data, {.limit = recipe.examples, .strict = recipe.strict});
  warn_of_skipped(recipe.data, loaded.report);
  // Alignments are scored by a head that is chosen on sources which are kept out as well.
  const bool aligned =
      std::ranges::any_of(loaded.pairs, [](const SentencePair& pair) { return !pair.alignment.empty(); });
  Split data = split(std::move(loaded.pairs),
                     {.holdout = recipe.holdout, .validation = aligned && recipe.holdout > 1});
  if (data.training.empty())
    raise<ValueError>("[train] wanted pairs to train on, came {} and all are held out", data.test.size());
  return data;
}

}  // namespace heed::translate
