// What a cue is worth: the same regression by attention pooling with one score after another, as a table, as
// weights drawn with letters, and as SVG.
#include <fmt/format.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/position.h>
#include <heed/tensor/error.h>
#include <heed/tensor/random.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "attention_cues/picture.h"
#include "attention_cues/regression.h"

namespace cues {
namespace {

using namespace heed;

constexpr auto kBlue = "#2166ac", kRed = "#c0392b", kGrey = "#777";
const Axis kQueries{.label = "queries, by x", .low = 0, .high = 1},
    kKeys{.label = "keys, by x", .low = 0, .high = 1};

double largest_of(const Tensor& values) { return max(Variable(values)).item(); }

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

void add_weights(Picture& picture, const std::string& what, const Tensor& weights) {
  const double largest = largest_of(weights);
  picture.panel(fmt::format("{} from 0 to {:.2f}", what, largest), kKeys, kQueries);
  picture.matrix(weights, 0, largest);
}

/// What a pooling guesses, and its weights.
Picture regression_picture(const Data& data, const Result& result) {
  Picture picture;
  picture.panel(fmt::format("{}: error {:.2f}", result.name, result.error),
                {"x", 0, 5, {{0, "0"}, {1, "1"}, {2, "2"}, {3, "3"}, {4, "4"}, {5, "5"}}},
                {"y", -2, 6, {{-2, "-2"}, {0, "0"}, {2, "2"}, {4, "4"}, {6, "6"}}});
  const auto asked = data.asked.span<float>();
  picture.dots("seen", kGrey, data.x.span<float>(), data.y.span<float>());
  picture.line("truth", kBlue, asked, data.wanted.span<float>());
  picture.line("guess", kRed, asked, result.output.span<float>());
  add_weights(picture, "weights", result.weights);
  return picture;
}

Picture mask_picture(const Results& results) {
  Picture picture;
  add_weights(picture, "all seen: weights", results.open);
  add_weights(picture, "own key hidden: weights", results.masked);
  return picture;
}

/// Each divided by the largest.
std::vector<float> relative(std::vector<float> numbers) {
  const float largest = *std::ranges::max_element(numbers);
  for (float& number : numbers) number /= largest;
  return numbers;
}

Picture width_picture(const Sweep& sweep) {
  std::vector<float> exponents;
  for (const float w : sweep.w) exponents.push_back(std::log10(w));
  const Axis widths{"w", -1, 2, {{-1, "0.1"}, {0, "1"}, {1, "10"}, {2, "100"}}};
  Picture picture;
  picture.panel("error", widths, {"root mean square", 0, 1.2, {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  picture.line("training, own key hidden", kGrey, exponents, sweep.training_error);
  picture.line("test, against the truth", kRed, exponents, sweep.test_error);
  picture.panel("saturation", widths, {"", 0, 1.2, {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  picture.line("largest weight", kRed, exponents, sweep.largest_weight);
  picture.line("gradient of the scores, relative", kBlue, exponents, relative(sweep.score_gradient));
  return picture;
}

/// Where a key stands is a cue too: sinusoidal positions, and what attention makes of them alone.
Picture position_picture() {
  constexpr int64_t kPlaces = 32, kWidth = 64;
  const Tensor table = nn::SinusoidalPosition::table(kPlaces, kWidth);
  const Variable x = table.unsqueeze(0);
  const Tensor weights = nn::DotProductAttention().attend(x, x, x).weights.data().squeeze(0);
  Picture picture;
  picture.panel("P from -1 to 1", {"column", 0, 1}, {"place", 0, 1});
  picture.matrix(table, -1, 1);
  picture.panel(fmt::format("softmax(P P^T / 8) from 0 to {:.2f}", largest_of(weights)), {"place", 0, 1},
                {"place", 0, 1});
  picture.matrix(weights, 0, largest_of(weights));
  return picture;
}

void write_pictures(const std::filesystem::path& folder, const Data& data, const Results& results) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const Picture& picture) {
    const std::filesystem::path path = folder / (name + ".svg");
    std::ofstream file(path);
    file << picture.svg() << std::flush;
    if (!file) raise<FileError>("[attention_cues] cannot write {}", path.string());
  };
  write("average", regression_picture(data, results.average));
  write("key", regression_picture(data, results.key));
  write("fixed", regression_picture(data, results.fixed));
  write("learned", regression_picture(data, results.learned));
  write("additive", regression_picture(data, results.additive));
  write("mask", mask_picture(results));
  write("width", width_picture(sweep_widths(data)));
  write("position", position_picture());
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
  app.add_option("--seed", seed, "Of points, noise and first weights")->capture_default_str();
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
