#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "translate/data/split.h"
#include "translate/recipe.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

/// Options that several subcommands share.
namespace heed::translate {

/// Options that do not go together: the program was called wrongly.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was asked for, by the names of a Recipe's members.
using Given = std::shared_ptr<nlohmann::json>;

/// Accept numbers from `least` to `most`, and numbers above 0.
CLI::Validator from(int64_t least, int64_t most = kMostCount);
CLI::Validator above_zero();
/// Accepts what an uint64_t can hold: to CLI11 alone, -1 is the largest.
CLI::Validator is_seed();

/// An option for one number of a Recipe.
CLI::Option* add_count(CLI::App& command, const Given& given, const std::string& option,
                       const std::string& help);
CLI::Option* add_rate(CLI::App& command, const Given& given, const std::string& option,
                      const std::string& help);
/// --model, --preset, and what shapes the models.
void add_model_options(CLI::App& command, const Given& given);
/// --examples, a number or all
void add_examples_option(CLI::App& command, const Given& given, const std::string& help);
/// --data
void add_data_option(CLI::App& command, const Given& given, const std::string& help);
/// --data, --strict, --examples and --holdout.
void add_data_options(CLI::App& command, const Given& given);
/// --seed
void add_seed_option(CLI::App& command, const Given& given);
/// --shards
void add_shards_option(CLI::App& command, const Given& given);
void add_threads_option(CLI::App& command);
/// --log-level, --quiet and --verbose
void add_log_options(CLI::App& command);

/// make_recipe(), or a UsageError.
Recipe recipe_given(const nlohmann::json& given);

/// The pairs that a recipe trains on, and those that it keeps out: for the test, and where the pairs have
/// alignments for validation too. The lines that had to be skipped are logged.
Split load_data(const Recipe& recipe);

}  // namespace heed::translate
