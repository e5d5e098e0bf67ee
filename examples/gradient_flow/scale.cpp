#include "gradient_flow/scale.h"

#include <fmt/format.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/study/recorder.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <cmath>

namespace heed::gradient_flow {
namespace {

constexpr double kDecided = 0.99;
/// Of the values: many, so that the gradients of a query's weights are next to independent.
constexpr int64_t kValueWidth = 64;

double share_decided(const Tensor& weights) {
  const auto largest = kernels::max(weights, {-1}).to_vector<double>();
  const auto decided = std::ranges::count_if(largest, [](double p) { return p > kDecided; });
  return static_cast<double>(decided) / static_cast<double>(largest.size());
}

/// The median over queries of |dL/dS| / |dL/dA|, both (..., keys).
double median_passed(const Tensor& score_gradients, const Tensor& weight_gradients) {
  const auto squares = [](const Tensor& x) {
    return kernels::sum(kernels::mul(x, x), {-1}).to_vector<double>();
  };
  std::vector<double> passed = squares(score_gradients);
  const std::vector<double> arrived = squares(weight_gradients);
  for (size_t i = 0; i < passed.size(); ++i) passed[i] = std::sqrt(passed[i] / arrived[i]);
  const auto middle = passed.begin() + std::ssize(passed) / 2;
  std::ranges::nth_element(passed, middle);
  return *middle;
}

/// Queries that each ask keys of their own, and what comes back: dL/dA_j = g . v_j is standard normal for a g
/// of deviation 1 / sqrt(value width).
struct Problem {
  Variable q;        // (queries, 1, width)
  Variable k;        // (queries, keys, width)
  Tensor v;          // (queries, keys, value width)
  Tensor gradients;  // g: (queries, 1, value width)
};

Problem problem(const ScaleOptions& options, int64_t width) {
  const int64_t queries = options.queries, keys = options.keys;
  const double deviation = 1 / std::sqrt(static_cast<double>(kValueWidth));
  return {Variable(rand_normal({queries, 1, width}), true), rand_normal({queries, keys, width}),
          rand_normal({queries, keys, kValueWidth}), rand_normal({queries, 1, kValueWidth}, 0, deviation)};
}

Softmax measure(const Problem& problem, bool scaled) {
  nn::DotProductAttention attention({.scaled = scaled});
  study::Recorder recorder(attention, {""}, {.flows = false, .parameters = false});
  attention(problem.q, problem.k, problem.v).backward(problem.gradients);
  const study::AttentionRecord& record = recorder.record().attention.at(0);
  const study::HeadStatistics& head = record.heads.at(0);
  return {.spread = head.spread,
          .entropy = head.entropy,
          .saturation = head.saturation,
          .decided = share_decided(record.values.at("weights")),
          .passed = head.score_gradient / head.weight_gradient,
          .passed_by_half = median_passed(record.gradients.at("scores"), record.gradients.at("weights"))};
}

}  // namespace

ScaleResult measure_scale(const ScaleOptions& options) {
  manual_seed(options.seed);
  ScaleResult result{.widths = {}, .keys = options.keys};
  for (const int64_t width : options.widths) {
    const Problem one = problem(options, width);
    result.widths.push_back(
        {.width = static_cast<double>(width), .scaled = measure(one, true), .unscaled = measure(one, false)});
  }
  return result;
}

namespace {

Table table_of(const ScaleResult& result, const char* name, Softmax ScaleResult::Width::*which) {
  Table table({name, "spread of scores", "entropy", "1 - sum p^2", "on one key", "passed", "median"});
  for (const auto& one : result.widths) {
    const Softmax& softmax = one.*which;
    table.add({fmt::format("{}", one.width), three_digits(softmax.spread), three_digits(softmax.entropy),
               three_digits(softmax.saturation), fmt::format("{:.1f}%", 100 * softmax.decided),
               three_digits(softmax.passed), three_digits(softmax.passed_by_half)});
  }
  return table;
}

study::ReportChart chart_of(const ScaleResult& result, const char* title, double Softmax::*member) {
  std::vector<double> widths, scaled, unscaled;
  for (const auto& one : result.widths) {
    widths.push_back(one.width);
    scaled.push_back(one.scaled.*member);
    unscaled.push_back(one.unscaled.*member);
  }
  return {.title = title,
          .x_label = "width of queries and keys",
          .y_label = title,
          .log_x = true,
          .lines = {line("divided by sqrt(d)", widths, scaled), line("not divided", widths, unscaled)}};
}

}  // namespace

Findings findings_of(const ScaleResult& result) {
  const auto &first = result.widths.front(), &last = result.widths.back();
  Findings findings;
  findings.tables = {table_of(result, "d, divided by sqrt(d)", &ScaleResult::Width::scaled),
                     table_of(result, "d, not divided", &ScaleResult::Width::unscaled)};
  findings.seen = fmt::format(
      "\"passed\" is |dL/dS| / |dL/dA|, the gradient behind softmax against that before it: from d = {} to "
      "{} it "
      "goes from {} to {} where scores are divided by sqrt(d), and from {} to {} where they are not. There "
      "{:.0f}% of the queries have more than 99% on one of their {} keys at last, and half of them pass "
      "less than {}.",
      first.width, last.width, three_digits(first.scaled.passed), three_digits(last.scaled.passed),
      three_digits(first.unscaled.passed), three_digits(last.unscaled.passed), 100 * last.unscaled.decided,
      result.keys, three_digits(last.unscaled.passed_by_half));
  findings.page.title = "Why dot products are divided by sqrt(d)";
  findings.page.charts = {chart_of(result, "gradient passed through softmax", &Softmax::passed),
                          chart_of(result, "gradient passed by the median query", &Softmax::passed_by_half),
                          chart_of(result, "1 - sum p^2", &Softmax::saturation),
                          chart_of(result, "entropy in nats", &Softmax::entropy),
                          chart_of(result, "share of queries with 99% on one key", &Softmax::decided)};
  return findings;
}

}  // namespace heed::gradient_flow
