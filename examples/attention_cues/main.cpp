// What a cue is worth: the same regression by attention pooling with one score after another, as a table, as
// weights drawn with letters, and as SVG.
#include <fmt/format.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/error.h>
#include <heed/tensor/random.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "attention_cues/pictures.h"
#include "attention_cues/plot.h"
#include "attention_cues/regression.h"

namespace cues {
namespace {

using namespace heed;

void print_table(const Results& results) {
  constexpr int64_t kQuery = kPoints / 2;
  double largest = 0;
  for (const Result* result : results.all())
    largest = std::max(largest, largest_of(result->weights.select(0, kQuery)));
  fmt::print("{:<24} error  weights of the {} keys for the query {}\n", "pooling", kPoints,
             kFarthest * kQuery / kPoints);
  for (const Result* result : results.all())
    fmt::print("{:<24} {:.3f}  {}\n", result->name, result->error,
               bars(result->weights.select(0, kQuery), largest));
  fmt::print("Error: root mean square against the truth, at {} places. A full bar is {:.2f}.\n", kPoints,
             largest);
}

/// Both kernels side by side: a row for every fourth query, a column for two keys.
void print_kernels(const Result& fixed, const Result& learned) {
  const auto folded = [](const Result& result) {
    const Variable rows = result.weights.slice(0, 0, kPoints, 4);
    return rows.reshape({-1, kPoints / 2, 2}).sum({2}).data();
  };
  const Tensor one = folded(fixed), other = folded(learned);
  const auto left = shades(one, largest_of(other)), right = shades(other, largest_of(other));
  fmt::print("\nquery  {:<28} {}\n", fixed.name, learned.name);
  for (size_t i = 0; i < left.size(); ++i)
    fmt::print("{:5.1f}  {}    {}\n", kFarthest / kPoints * 4 * static_cast<double>(i), left[i], right[i]);
}

/// What the example says is what came out.
void check(const Results& results) {
  const double average = results.average.error, fixed = results.fixed.error, learned = results.learned.error;
  if (!(learned < fixed && fixed < average))
    raise<ValueError>(
        "wanted errors that fall from the average over the fixed to the learned width, came {:.3f}, "
        "{:.3f}, {:.3f}",
        average, fixed, learned);
  const Variable guesses = results.key.output;
  if (max(guesses).item() - min(guesses).item() > 1e-5)
    raise<ValueError>("wanted one guess for all queries where only keys are looked at, came from {} to {}",
                      min(guesses).item(), max(guesses).item());
}

}  // namespace
}  // namespace cues

int main(int argc, char** argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app{"Regression by attention pooling: the same points, one score after another"};
  std::string folder;
  uint64_t seed = 0;
  app.add_option("--out", folder, "Write pictures (SVG) to this folder")->type_name("DIR");
  app.add_option("--seed", seed, "Of points, noise and first weights")
      ->capture_default_str()
      ->check([](const std::string& text) {  // CLI11 takes -1 as the largest number
        const bool is_whole = text.find_first_not_of("0123456789") == std::string::npos;
        return is_whole ? "" : fmt::format("wanted a whole number of 0 or more, came \"{}\"", text);
      });
  app.failure_message([](const CLI::App*, const CLI::Error& problem) {
    return fmt::format("attention_cues: {} (--help tells more)\n", problem.what());
  });
  try {
    app.parse(argc, argv);
    heed::manual_seed(seed);
    const cues::Data data = cues::make_data();
    const cues::Results results = cues::compare_poolings(data);
    cues::print_table(results);
    cues::print_kernels(results.fixed, results.learned);
    if (!folder.empty()) cues::write_pictures(folder, data, results);
    cues::check(results);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadUsage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "attention_cues: {}\n", problem.what());
    return kFailed;
  }
  return 0;
}
