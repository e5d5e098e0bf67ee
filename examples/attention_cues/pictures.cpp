#include "attention_cues/pictures.h"

#include <fmt/format.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/position.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "attention_cues/plot.h"

namespace cues {
namespace {

using namespace heed;

constexpr auto kBlue = "#2166ac", kRed = "#c0392b", kGrey = "#777";

void add_weights(Plot& plot, const std::string& what, const std::string& queries, const std::string& keys,
                 const Tensor& weights) {
  const double largest = largest_of(weights);
  plot.panel(fmt::format("{} from 0 to {:.2f}", what, largest), {keys, 0, 1}, {queries, 0, 1});
  plot.matrix(weights, 0, largest);
}

/// What a pooling guesses, and its weights.
Plot regression_plot(const Data& data, const Result& result) {
  Plot plot;
  plot.panel(fmt::format("{}: error {:.2f}", result.name, result.error),
             {"x", 0, 5, {{0, "0"}, {1, "1"}, {2, "2"}, {3, "3"}, {4, "4"}, {5, "5"}}},
             {"y", -2, 6, {{-2, "-2"}, {0, "0"}, {2, "2"}, {4, "4"}, {6, "6"}}});
  const auto asked = data.asked.span<float>();
  plot.dots("seen", kGrey, data.x.span<float>(), data.y.span<float>());
  plot.line("truth", kBlue, asked, data.wanted.span<float>());
  plot.line("guess", kRed, asked, result.output.span<float>());
  add_weights(plot, "weights", "queries, by x", "keys, by x", result.weights);
  return plot;
}

Plot mask_plot(const Results& results) {
  Plot plot;
  add_weights(plot, "all seen: weights", "queries, by x", "keys, by x", results.learned_inside.open);
  add_weights(plot, "own key hidden: weights", "queries, by x", "keys, by x", results.learned_inside.masked);
  return plot;
}

/// How the gradient of the loss comes from the weights to the scores.
Plot gradient_plot(const Inside& inside) {
  Plot plot;
  add_weights(plot, "A", "queries, by x", "keys, by x", inside.masked);
  const auto add_gradient = [&](const std::string& what, const Tensor& gradient) {
    const double largest = largest_of(abs(gradient).data());
    plot.panel(fmt::format("{}, from -{:.2g} to {:.2g}", what, largest, largest), {"keys, by x", 0, 1},
               {"queries, by x", 0, 1});
    plot.matrix(gradient, -largest, largest);
  };
  add_gradient("dL/dA", inside.weight_gradient);
  add_gradient("dL/dS", inside.score_gradient);
  return plot;
}

/// Each divided by the largest.
std::vector<float> relative(std::vector<float> numbers) {
  const float largest = *std::ranges::max_element(numbers);
  for (float& number : numbers) number /= largest;
  return numbers;
}

Plot width_plot(const Sweep& sweep) {
  std::vector<float> exponents;
  for (const float w : sweep.w) exponents.push_back(std::log10(w));
  const Axis widths{"w", -1, 2, {{-1, "0.1"}, {0, "1"}, {1, "10"}, {2, "100"}}};
  Plot plot;
  plot.panel("error", widths, {"root mean square", 0, 1.2, {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  plot.line("training, own key hidden", kGrey, exponents, sweep.training_error);
  plot.line("test, against the truth", kRed, exponents, sweep.test_error);
  plot.panel("saturation", widths, {"", 0, 1.2, {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  plot.line("largest weight", kRed, exponents, sweep.largest_weight);
  plot.line("gradient of the scores, relative", kBlue, exponents, relative(sweep.score_gradient));
  return plot;
}

/// What the length of queries and keys does to a softmax of their products, and the root that undoes it.
Plot scale_plot() {
  constexpr int64_t kCount = 24, kWidth = 64;
  const Tensor q = rand_normal({1, kCount, kWidth}), k = rand_normal({1, kCount, kWidth});
  Plot plot;
  for (const bool scaled : {false, true}) {
    nn::DotProductAttention attention({.scaled = scaled});
    add_weights(plot, scaled ? "softmax(Q K^T / 8)" : "softmax(Q K^T)", "queries", "keys",
                attention.attend(q, k, k).weights.data().squeeze(0));
  }
  return plot;
}

constexpr int64_t kPlaces = 32, kPositionWidth = 64;

Tensor positions() { return nn::SinusoidalPosition::table(kPlaces, kPositionWidth); }

/// A sequence asked about itself: with all of it to see, and each place with itself and what stands before.
Plot causal_plot() {
  const Variable x = positions().unsqueeze(0);
  nn::DotProductAttention attention;
  const Tensor causal = attention.attend(x, x, x, nn::Mask::causal_order()).weights.data().squeeze(0);
  Plot plot;
  add_weights(plot, "all seen:", "place asking", "place seen",
              attention.attend(x, x, x).weights.data().squeeze(0));
  plot.panel("in causal order: from 0 to 0.2 or more", {"place seen", 0, 1}, {"place asking", 0, 1});
  plot.matrix(causal, 0, 0.2);
  return plot;
}

/// Sinusoidal positions, and that their products tell the distance.
Plot position_plot() {
  const Variable table = positions();
  const Tensor products = table.matmul(table.transpose(0, 1)).data();
  const double largest = largest_of(products);
  Plot plot;
  plot.panel("P from -1 to 1", {"column", 0, 1}, {"place", 0, 1});
  plot.matrix(positions(), -1, 1);
  plot.panel(fmt::format("P P^T from 0 to {:.0f}", largest), {"place", 0, 1}, {"place", 0, 1});
  plot.matrix(products, 0, largest);
  return plot;
}

/// Four heads that each see a quarter of the columns of P, by projections that change nothing but the length.
Plot heads_plot() {
  nn::MultiHeadAttention attention({.width = kPositionWidth, .heads = 4, .bias = false});
  const Tensor same = eye(kPositionWidth, kPositionWidth);
  const Tensor longer = (Variable(same) * 2).data();
  attention.load_state_dict({{"q_proj.weight", longer},
                             {"k_proj.weight", longer},
                             {"v_proj.weight", same},
                             {"out_proj.weight", same}});
  const Variable x = positions().unsqueeze(0);
  const Tensor weights = attention.attend_with_weights(x, attention.project(x, x)).weights.data().squeeze(0);
  Plot plot;
  for (int64_t head = 0; head < weights.size(0); ++head)
    add_weights(plot, fmt::format("head {}:", head), "place asking", "place seen", weights.select(0, head));
  return plot;
}

}  // namespace

void write_pictures(const std::filesystem::path& folder, const Data& data, const Results& results) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const Plot& plot) {
    const std::filesystem::path path = folder / (name + ".svg");
    std::ofstream file(path);
    file << plot.svg() << std::flush;
    if (!file) raise<FileError>("[attention_cues] cannot write {}", path.string());
  };
  write("average", regression_plot(data, results.average));
  write("key", regression_plot(data, results.key));
  write("fixed", regression_plot(data, results.fixed));
  write("learned", regression_plot(data, results.learned));
  write("additive", regression_plot(data, results.additive));
  write("mask", mask_plot(results));
  write("gradient", gradient_plot(results.learned_inside));
  write("width", width_plot(sweep_widths(data)));
  write("scale", scale_plot());
  write("causal", causal_plot());
  write("position", position_plot());
  write("heads", heads_plot());
}

}  // namespace cues
