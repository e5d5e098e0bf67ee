#include <heed/study/report_layers.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/unary.h>

namespace heed::study {
namespace {

const Tensor& point_of(const std::map<std::string, Tensor>& values, const std::string& layer,
                       const char* point) {
  const auto found = values.find(point);
  if (found == values.end())
    raise<ValueError>("[report_layer] wanted a record with tensors, came one of \"{}\" without {}", layer,
                      point);
  return found->second;
}

/// One row of (batch, heads, queries, keys), as f32 (heads, queries, keys).
Tensor matrices(const Tensor& pairs, int64_t row, int64_t queries, int64_t keys) {
  return pairs.select(0, row).slice(1, 0, queries).slice(2, 0, keys).contiguous().to(DType::f32);
}

/// One row of (heads, batch, places), as f32 (heads, places).
Tensor places_of(const Tensor& x, int64_t row, int64_t places) {
  return x.select(1, row).slice(1, 0, places).contiguous().to(DType::f32);
}

ReportFlow report_flow(const Flow& flow, int64_t row, const std::vector<ReportToken>& tokens) {
  const auto places = static_cast<int64_t>(tokens.size());
  ReportFlow result{flow.input, tokens};
  const Tensor squares = kernels::sum(kernels::mul(flow.whole, flow.whole), {-1});  // (batch, places)
  result.norm = places_of(kernels::sqrt(squares).unsqueeze(0), row, places).select(0, 0).contiguous();
  for (const FlowPart& part : flow.parts)
    result.parts.push_back(
        {part.path, places_of(part.share, row, places), places_of(part.norm, row, places)});
  return result;
}

/// One number of each head.
Tensor by_head(const std::vector<HeadStatistics>& heads, double HeadStatistics::*member) {
  std::vector<float> values;
  for (const HeadStatistics& head : heads) values.push_back(static_cast<float>(head.*member));
  return from_values<float>(values, {static_cast<int64_t>(values.size())});
}

void expect_places(const AttentionRecord& record, const Tensor& weights, int64_t row, int64_t queries,
                   int64_t keys) {
  if (row < 0 || row >= weights.size(0))
    raise<IndexError>("[report_layer] wanted a row in [0, {}), came {}", weights.size(0), row);
  if (queries > weights.size(2) || keys > weights.size(3))
    raise<ShapeError>("[report_layer] \"{}\": wanted at most {} queries and {} keys, came {} and {} tokens",
                      record.name, weights.size(2), weights.size(3), queries, keys);
}

}  // namespace

ReportLayer report_layer(const AttentionRecord& record, int64_t row, const std::vector<ReportToken>& queries,
                         const std::vector<ReportToken>& keys) {
  const auto rows = static_cast<int64_t>(queries.size()), columns = static_cast<int64_t>(keys.size());
  const Tensor& weights = point_of(record.values, record.name, "weights");
  const Tensor& scores = point_of(record.values, record.name, "scores");
  expect_places(record, weights, row, rows, columns);
  ReportLayer layer{.name = record.name, .queries = queries, .keys = keys};
  layer.weights = matrices(weights, row, rows, columns);
  Tensor gradients;
  if (record.gradients.contains("weights")) {
    gradients = record.gradients.at("weights");
    layer.gradients = matrices(gradients, row, rows, columns);
  }
  const auto of_row = [&](const Tensor& x) { return x.defined() ? x.slice(0, row, row + 1) : x; };
  const auto heads = head_statistics(of_row(weights), of_row(scores), of_row(gradients), {});
  layer.entropy = by_head(heads, &HeadStatistics::entropy);
  layer.saturation = by_head(heads, &HeadStatistics::saturation);
  for (const Flow& flow : record.flows)
    layer.flows.push_back(report_flow(flow, row, flow.input == "memory" ? keys : queries));
  return layer;
}

std::string layer_of(const std::string& parameter) {
  for (size_t begin = 0; begin < parameter.size();) {
    const size_t end = std::min(parameter.find('.', begin), parameter.size());
    const auto is_digit = [](unsigned char letter) { return std::isdigit(letter) != 0; };
    if (std::all_of(parameter.begin() + static_cast<std::ptrdiff_t>(begin),
                    parameter.begin() + static_cast<std::ptrdiff_t>(end), is_digit))
      return parameter.substr(0, end);
    begin = end + 1;
  }
  return parameter.substr(0, parameter.find('.'));
}

std::map<std::string, double> gradient_norms_by_layer(const std::vector<ParameterRecord>& parameters) {
  std::map<std::string, double> norms;
  for (const ParameterRecord& parameter : parameters) {
    double& norm = norms[layer_of(parameter.name)];
    norm = std::hypot(norm, parameter.statistics.gradient_norm);
  }
  return norms;
}

std::map<std::string, double> gradient_norms_by_layer(const NamedVariables& parameters) {
  std::map<std::string, double> norms;
  for (const auto& [name, parameter] : parameters) {
    double& norm = norms[layer_of(name)];
    if (const Variable grad = parameter.grad(); grad.defined()) norm = std::hypot(norm, norm_of(grad.data()));
  }
  return norms;
}

ReportChart gradient_norm_chart(const std::vector<StepRecord>& steps) {
  ReportChart chart;
  chart.title = "Gradient norms by layer";
  chart.x_label = "step";
  chart.y_label = "|dL/dw|";
  chart.log_y = true;
  std::map<std::string, ReportChart::Line> lines;
  for (const StepRecord& step : steps)
    for (const auto& [layer, norm] : gradient_norms_by_layer(step.parameters)) {
      ReportChart::Line& line = lines[layer];
      line.name = layer;
      line.x.push_back(static_cast<double>(step.step));
      line.y.push_back(norm);
    }
  for (auto& [layer, line] : lines) chart.lines.push_back(std::move(line));
  return chart;
}

}  // namespace heed::study
