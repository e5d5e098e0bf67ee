#include <heed/study/internal/report_data.h>

#include <heed/study/internal/packed_rows.h>
#include <heed/tensor/error.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace heed::study::internal {
namespace {

using nlohmann::ordered_json;

/// What the matrices of a page may take, so that the whole stays under 5 MB.
constexpr int64_t kMatrixCharacters = 4'000'000;

void check_tensor(const std::string& what, const Tensor& tensor, const Shape& shape) {
  if (!tensor.defined() || tensor.shape() != shape) {
    raise<ShapeError>("[report] {}: wanted f32{}, came {}", what, shape, describe(tensor));
  }
  if (tensor.dtype() != DType::f32) {
    raise<DTypeError>("[report] {}: wanted f32, came {}", what, describe(tensor));
  }
}

void check_flow(const std::string& layer, const ReportFlow& flow) {
  const std::string name = fmt::format("{}, flow to \"{}\"", layer, flow.input);
  if (flow.tokens.empty() || flow.parts.empty()) {
    raise<ValueError>("[report] {}: wanted tokens and parts, came {} and {}", name, flow.tokens.size(),
                      flow.parts.size());
  }
  for (const ReportFlow::Part& part : flow.parts) {
    const std::string what = fmt::format("{} by \"{}\"", name, part.path);
    const int64_t heads = part.share.defined() && part.share.rank() == 2 ? part.share.size(0) : 1;
    if (heads == 0) raise<ValueError>("[report] {}: wanted at least one head, came none", what);
    check_tensor(what + ", share", part.share, {heads, std::ssize(flow.tokens)});
    check_tensor(what + ", norm", part.norm, {heads, std::ssize(flow.tokens)});
  }
  if (flow.norm.defined()) check_tensor(name + ", norm", flow.norm, {std::ssize(flow.tokens)});
}

void check_layer(const ReportLayer& layer) {
  const std::string name = fmt::format("layer \"{}\"", layer.name);
  const int64_t heads = layer.weights.defined() && layer.weights.rank() == 3 ? layer.weights.size(0) : 1;
  if (heads == 0 || layer.queries.empty() || layer.keys.empty()) {
    raise<ValueError>("[report] {}: wanted heads, queries and keys, came {}, {} and {}", name, heads,
                      layer.queries.size(), layer.keys.size());
  }
  const Shape shape{heads, std::ssize(layer.queries), std::ssize(layer.keys)};
  check_tensor(name + ", weights", layer.weights, shape);
  if (layer.gradients.defined()) check_tensor(name + ", gradients", layer.gradients, shape);
  if (layer.entropy.defined()) check_tensor(name + ", entropy", layer.entropy, {heads});
  if (layer.saturation.defined()) check_tensor(name + ", saturation", layer.saturation, {heads});
  for (const ReportFlow& flow : layer.flows) check_flow(name, flow);
}

void check_chart(const ReportChart& chart) {
  for (const ReportChart::Line& line : chart.lines) {
    if (line.x.size() != line.y.size()) {
      raise<ValueError>("[report] chart \"{}\", line \"{}\": wanted as many x as y, came {} and {}",
                        chart.title, line.name, line.x.size(), line.y.size());
    }
  }
}

int64_t matrix_rows(const ReportLayer& layer) { return layer.weights.size(0) * layer.weights.size(1); }

/// Of the matrices of one layer as JSON, but for what it takes to name them.
int64_t characters_of(const ReportLayer& layer, Precision precision) {
  const int64_t keys = std::ssize(layer.keys), kept = std::min(precision.kept, keys);
  const int64_t matrices = layer.gradients.defined() ? 2 : 1;
  const int64_t row = matrices * (static_cast<int64_t>(sizeof(float)) + kept * precision.bits / 8) +
                      (kept < keys ? mask_bytes(keys) : 0);
  return (matrix_rows(layer) * row + 2) / 3 * 4;
}

int64_t characters_of(const std::vector<ReportLayer>& layers, Precision precision) {
  int64_t sum = 0;
  for (const ReportLayer& layer : layers) sum += characters_of(layer, precision);
  return sum;
}

template <class T>
std::string base64_of(const std::vector<T>& values) {
  return base64(std::as_bytes(std::span(values)));
}

ordered_json to_json(const PackedRows& rows) {
  return {{"bits", rows.bits}, {"scales", base64_of(rows.scales)}, {"numbers", base64_of(rows.numbers)}};
}

/// A row for each of all but the last axis.
ordered_json packed(const Tensor& tensor, int bits, const KeptMask& kept = {}) {
  return to_json(pack_rows(tensor.contiguous().span<float>(), tensor.size(-1), bits, kept));
}

/// Seven digits are enough for a picture and for the table behind it.
ordered_json short_number(double value) {
  return std::isfinite(value) ? ordered_json(std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr))
                              : nullptr;
}

template <class T>
ordered_json numbers(const std::vector<T>& values) {
  ordered_json list = ordered_json::array();
  for (const T value : values) list.push_back(short_number(value));
  return list;
}

/// Each sequence of tokens once, however many layers share it.
class Sequences {
 public:
  int64_t index_of(const std::vector<ReportToken>& tokens) {
    ordered_json sequence = {{"texts", ordered_json::array()}, {"special", ordered_json::array()}};
    for (size_t i = 0; i < tokens.size(); ++i) {
      sequence["texts"].push_back(tokens[i].text);
      if (tokens[i].special) sequence["special"].push_back(i);
    }
    const auto found = std::find(list_.begin(), list_.end(), sequence);
    if (found != list_.end()) return found - list_.begin();
    list_.push_back(std::move(sequence));
    return std::ssize(list_) - 1;
  }
  const ordered_json& list() const { return list_; }

 private:
  ordered_json list_ = ordered_json::array();
};

ordered_json flow_json(const ReportFlow& flow, Sequences& sequences) {
  ordered_json parts = ordered_json::array();
  for (const ReportFlow::Part& part : flow.parts) {
    parts.push_back({{"path", part.path},
                     {"heads", part.share.size(0)},
                     {"share", packed(part.share, 16)},
                     {"norm", packed(part.norm, 16)}});
  }
  ordered_json json = {
      {"input", flow.input}, {"tokens", sequences.index_of(flow.tokens)}, {"parts", std::move(parts)}};
  if (flow.norm.defined()) json["norm"] = packed(flow.norm, 16);
  return json;
}

/// How much of the magnitude of all matrices of one kind is in the numbers that were kept.
struct KeptShare {
  double kept = 0, all = 0;

  void add(const Tensor& tensor, const KeptMask& mask) {
    const Tensor rows = tensor.contiguous();
    const int64_t columns = tensor.size(-1);
    int64_t place = 0;
    for (const float value : rows.span<float>()) {
      const double size = std::isfinite(value) ? std::abs(value) : 0;
      all += size;
      if (is_kept(mask, place / columns, columns, place % columns)) kept += size;
      ++place;
    }
  }
  double share() const { return all > 0 ? kept / all : 1; }
};

/// Writes layers with the same precision, and what it leaves out.
class LayerWriter {
 public:
  LayerWriter(Precision precision, Sequences& sequences) : precision_(precision), sequences_(sequences) {}

  ordered_json write(const ReportLayer& layer) {
    ordered_json json = {{"name", layer.name},
                         {"queries", sequences_.index_of(layer.queries)},
                         {"keys", sequences_.index_of(layer.keys)},
                         {"heads", layer.weights.size(0)}};
    const KeptMask mask = mask_of(layer);
    if (!mask.empty()) json["kept"] = base64_of(mask);
    json["weights"] = packed(layer.weights, precision_.bits, mask);
    weights_.add(layer.weights, mask);
    if (layer.gradients.defined()) {
      json["gradients"] = packed(layer.gradients, precision_.bits, mask);
      gradients_.add(layer.gradients, mask);
    }
    if (layer.entropy.defined()) json["entropy"] = numbers(layer.entropy.to_vector<float>());
    if (layer.saturation.defined()) json["saturation"] = numbers(layer.saturation.to_vector<float>());
    json["flows"] = ordered_json::array();
    for (const ReportFlow& flow : layer.flows) json["flows"].push_back(flow_json(flow, sequences_));
    return json;
  }

  ordered_json precision() const {
    ordered_json json = {{"bits", precision_.bits}};
    if (left_out_) {
      json["kept"] = precision_.kept;
      json["weights"] = short_number(weights_.share());
      json["gradients"] = short_number(gradients_.share());
    }
    return json;
  }

 private:
  KeptMask mask_of(const ReportLayer& layer) {
    if (precision_.kept >= std::ssize(layer.keys)) return {};
    left_out_ = true;
    const Tensor weights = layer.weights.contiguous();
    const Tensor gradients = layer.gradients.defined() ? layer.gradients.contiguous() : Tensor();
    return strongest(weights.span<float>(),
                     gradients.defined() ? gradients.span<float>() : std::span<const float>(),
                     std::ssize(layer.keys), precision_.kept);
  }

  Precision precision_;
  Sequences& sequences_;
  KeptShare weights_, gradients_;
  bool left_out_ = false;
};

/// A line names an earlier one in place of the same x.
ordered_json x_json(const ReportChart& chart, size_t line) {
  for (size_t earlier = 0; earlier < line; ++earlier) {
    if (chart.lines[earlier].x == chart.lines[line].x) return earlier;
  }
  return numbers(chart.lines[line].x);
}

ordered_json chart_json(const ReportChart& chart) {
  ordered_json lines = ordered_json::array();
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    lines.push_back(
        {{"name", chart.lines[i].name}, {"x", x_json(chart, i)}, {"y", numbers(chart.lines[i].y)}});
  }
  return {{"title", chart.title}, {"xLabel", chart.x_label}, {"yLabel", chart.y_label},
          {"logX", chart.log_x},  {"logY", chart.log_y},     {"lines", std::move(lines)}};
}

/// A `<` could end the script element that holds the data, or open a comment in it.
std::string without_tags(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

Precision finest_precision(const std::vector<ReportLayer>& layers, int64_t characters) {
  int64_t longest = 1;
  for (const ReportLayer& layer : layers) longest = std::max(longest, std::ssize(layer.keys));
  Precision precision{.bits = 16, .kept = longest};
  if (characters_of(layers, precision) <= characters) return precision;
  precision.bits = 8;
  while (precision.kept > 1 && characters_of(layers, precision) > characters) --precision.kept;
  return precision;
}

void check_report(const Report& report) {
  for (const ReportLayer& layer : report.layers) check_layer(layer);
  for (const ReportChart& chart : report.charts) check_chart(chart);
}

std::string report_json(const Report& report) {
  Sequences sequences;
  LayerWriter writer(finest_precision(report.layers, kMatrixCharacters), sequences);
  ordered_json layers = ordered_json::array(), charts = ordered_json::array();
  for (const ReportLayer& layer : report.layers) layers.push_back(writer.write(layer));
  for (const ReportChart& chart : report.charts) charts.push_back(chart_json(chart));
  const ordered_json json = {{"title", report.title},           {"text", report.text},
                             {"precision", writer.precision()}, {"sequences", sequences.list()},
                             {"layers", std::move(layers)},     {"charts", std::move(charts)}};
  // Tokens may be pieces of characters: what is no UTF-8 is shown as U+FFFD.
  return without_tags(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace heed::study::internal
