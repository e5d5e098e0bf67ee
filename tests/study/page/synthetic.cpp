#include "tests/study/page/synthetic.h"

#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

#include <fmt/format.h>
#include <cmath>

namespace heed::study::test {
namespace {

constexpr const char* kSyllables[] = {"ka", "lo", "mi", "ren", "so", "ta", "vu", "ber"};

/// For each head the mean over queries of a sum over keys.
template <class Term>
Tensor mean_of_rows(const Tensor& weights, const Term& term) {
  const int64_t heads = weights.size(0), queries = weights.size(1);
  Tensor means = zeros({heads});
  for (int64_t head = 0; head < heads; ++head) {
    const auto numbers = weights.select(0, head).span<float>();
    double sum = 0;
    for (const float weight : numbers) sum += term(weight);
    means.set({head}, sum / static_cast<double>(queries));
  }
  return means;
}

ReportChart gradient_norms(const std::vector<std::string>& names) {
  ReportChart chart{.title = "Gradient norms by layer", .x_label = "step", .y_label = "norm", .log_y = true};
  Generator generator(5);
  for (size_t i = 0; i < names.size(); ++i) {
    ReportChart::Line line{.name = names[i]};
    const auto noise = rand_normal({300}, 0, 0.15, DType::f32, generator).to_vector<double>();
    for (int64_t step = 0; step < 300; ++step) {
      line.x.push_back(static_cast<double>(1 + 5 * step));
      line.y.push_back(std::exp(noise[step] - 0.7 * static_cast<double>(i) - std::log1p(step / 20.0)));
    }
    chart.lines.push_back(line);
  }
  return chart;
}

ReportChart losses() {
  ReportChart chart{.title = "Loss", .x_label = "epoch", .y_label = "nats per token", .log_x = true};
  for (const char* name : {"training", "held out"}) {
    ReportChart::Line line{.name = name};
    for (int64_t epoch = 1; epoch <= 40; ++epoch) {
      line.x.push_back(static_cast<double>(epoch));
      line.y.push_back(3.5 / epoch + (std::string(name) == "training" ? 0.05 : 0.4 + 0.004 * epoch));
    }
    chart.lines.push_back(line);
  }
  return chart;
}

}  // namespace

std::vector<ReportToken> sentence(const std::vector<std::string>& words, int64_t padding) {
  std::vector<ReportToken> tokens;
  for (const std::string& word : words) tokens.push_back({word});
  tokens.push_back({"<eos>", true});
  for (int64_t i = 0; i < padding; ++i) tokens.push_back({"<pad>", true});
  return tokens;
}

std::vector<ReportToken> long_sentence(int64_t length) {
  std::vector<ReportToken> tokens;
  for (int64_t i = 0; i < length; ++i) {
    tokens.push_back({fmt::format("{}{}", kSyllables[i * 5 % 8], kSyllables[i * 3 / 8 % 8])});
  }
  return tokens;
}

Tensor random_weights(int64_t heads, int64_t queries, int64_t keys, uint64_t seed) {
  Generator generator(seed);
  Tensor weights = rand_normal({heads, queries, keys}, 0, 1, DType::f32, generator);
  const auto numbers = weights.mutable_span<float>();
  for (int64_t row = 0; row < heads * queries; ++row) {
    const double place =
        static_cast<double>(row % queries) * static_cast<double>(keys) / static_cast<double>(queries);
    const auto pull = static_cast<double>(row / queries % 4);
    double sum = 0;
    for (int64_t key = 0; key < keys; ++key) {
      float& weight = numbers[row * keys + key];
      weight = std::exp(weight - static_cast<float>(pull * std::abs(static_cast<double>(key) - place)));
      sum += weight;
    }
    for (int64_t key = 0; key < keys; ++key) numbers[row * keys + key] /= static_cast<float>(sum);
  }
  return weights;
}

ReportLayer random_layer(const std::string& name, int64_t heads, const std::vector<ReportToken>& queries,
                         const std::vector<ReportToken>& keys, uint64_t seed) {
  const Shape shape{heads, static_cast<int64_t>(queries.size()), static_cast<int64_t>(keys.size())};
  Generator generator(seed + 1000);
  ReportLayer layer{.name = name, .queries = queries, .keys = keys};
  layer.weights = random_weights(shape[0], shape[1], shape[2], seed);
  layer.gradients = rand_normal(shape, 0, 0.01, DType::f32, generator);
  layer.entropy = mean_of_rows(layer.weights, [](double w) { return w > 0 ? -w * std::log(w) : 0; });
  layer.saturation = mean_of_rows(layer.weights, [](double w) { return w * (1 - w); });
  return layer;
}

ReportFlow random_flow(const std::string& input, const std::vector<std::string>& paths, int64_t heads,
                       const std::vector<ReportToken>& tokens, uint64_t seed) {
  Generator generator(seed);
  const auto places = static_cast<int64_t>(tokens.size());
  ReportFlow flow{.input = input, .tokens = tokens};
  std::vector<double> sums(places);
  for (const std::string& path : paths) {
    const int64_t own = path == "residual" ? 1 : heads;
    const double mean = path == "residual" ? 1.0 : path == "value" ? 0.5 / heads : 0.1 / heads;
    Tensor share = rand_normal({own, places}, mean, 0.6 * mean + 0.12 / own, DType::f32, generator);
    for (int64_t i = 0; i < share.numel(); ++i) sums[i % places] += share.span<float>()[i];
    flow.parts.push_back({path, share, share.clone()});
  }
  flow.norm = zeros({places});
  const auto wholes = flow.norm.mutable_span<float>();
  for (int64_t i = 0; i < places; ++i)
    wholes[i] = 0.02F * static_cast<float>(std::abs(sums[i])) / (1 + i % 7);
  for (ReportFlow::Part& part : flow.parts) {
    const auto shares = part.share.mutable_span<float>(), norms = part.norm.mutable_span<float>();
    for (size_t i = 0; i < shares.size(); ++i) {
      const float whole = wholes[i % sums.size()];
      shares[i] /= static_cast<float>(sums[i % sums.size()]);
      norms[i] = 1.2F * whole * std::abs(shares[i]);
    }
  }
  return flow;
}

Report translator() {
  const auto source = sentence({"the", "old", "woman", "sees", "a", "small", "cat", "."}, 3);
  const auto target = sentence({"la", "vieille", "femme", "voit", "un", "petit", "chat", "."}, 2);
  Report report{.title = "A small translator, after 20 epochs",
                .text =
                    "Attention and gradients of one sentence pair of the embedded corpus.\n\n"
                    "The numbers on this page are made up."};
  uint64_t seed = 1;
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    const auto add = [&](const std::string& kind, const auto& queries, const auto& keys) -> ReportLayer& {
      names.push_back(fmt::format(fmt::runtime(kind), i));
      return report.layers.emplace_back(random_layer(names.back(), 4, queries, keys, seed++));
    };
    ReportLayer& encoder = add("encoder.layers.{}.attention", source, source);
    encoder.flows = {random_flow("input", {"residual", "query", "key", "value"}, 4, source, seed++)};
    ReportLayer& self = add("decoder.layers.{}.self_attention", target, target);
    self.flows = {random_flow("input", {"residual", "query", "key", "value"}, 4, target, seed++)};
    ReportLayer& cross = add("decoder.layers.{}.cross_attention", target, source);
    cross.flows = {random_flow("input", {"residual", "query"}, 4, target, seed++),
                   random_flow("memory", {"key", "value"}, 4, source, seed++)};
  }
  report.charts = {losses(), gradient_norms(names)};
  return report;
}

Report largest() {
  Report report{.title = "Twelve layers of twelve heads on 200 tokens"};
  const auto tokens = long_sentence(200);
  std::vector<std::string> names;
  for (uint64_t i = 0; i < 12; ++i) {
    names.push_back(fmt::format("encoder.layers.{}.attention", i));
    report.layers.push_back(random_layer(names.back(), 12, tokens, tokens, 100 + i));
    report.layers.back().flows = {random_flow("input", {"residual", "query", "key", "value"}, 12, tokens, i)};
  }
  report.charts = {gradient_norms(names)};
  return report;
}

Report hostile() {
  const std::string closing = "</script><script>document.title = 'broken'</script>";
  const auto tokens =
      sentence({closing, "<!--", "\"quotes\" & 'more'", "<img src=x onerror=alert(1)>", "שלום",
                "مرحبا بالعالم", "日本語", "👩‍👩‍👧", "e\xCC\x81t\xC3\xA9", "\xff\xfe",
                "\xE2\x80\xAEreversed", "  spaces ", "line\nbreak", "", std::string(300, 'w'), "@PAGE@"});
  Report report{.title = "<b>Bold</b> " + closing, .text = closing + "\n\nשלום עולם"};
  report.layers = {random_layer("layer <i>0</i>", 3, tokens, tokens, 3)};
  report.layers[0].flows = {random_flow("input", {"residual", "query", "key", "value"}, 3, tokens, 4)};
  report.charts = {{.title = closing,
                    .x_label = "<x>",
                    .y_label = "\"y\"",
                    .lines = {{.name = closing, .x = {0, 1, 2}, .y = {1, std::nan(""), 2}}}}};
  return report;
}

}  // namespace heed::study::test
