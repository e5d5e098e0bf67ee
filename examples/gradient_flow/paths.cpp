#include "gradient_flow/paths.h"

#include <fmt/format.h>
#include <heed/nn/loss.h>
#include <heed/optim/adam.h>
#include <heed/optim/clip.h>
#include <heed/study/recorder.h>
#include <heed/study/report_layers.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "gradient_flow/attention_stack.h"

namespace heed::gradient_flow {
namespace {

constexpr int64_t kLetters = 16;
constexpr int64_t kBatch = 64;

/// Random sequences, to be told back to front: i64 (batch, length) each.
struct Sequences {
  explicit Sequences(int64_t length)
      : letters(rand_integers({kBatch, length}, 0, kLetters)), wanted(letters.clone()) {
    for (int64_t place = 0; place < length; ++place)
      wanted.select(1, place).copy_from(letters.select(1, length - 1 - place));
  }
  Tensor letters, wanted;
};

Variable loss_of(AttentionStack& model, const Sequences& batch) {
  return nn::cross_entropy(model(batch.letters), batch.wanted);
}

double total(const study::FlowPart& part) {
  return std::accumulate(part.total_share.begin(), part.total_share.end(), 0.0);
}

LayerShares shares_of(const study::AttentionRecord& record) {
  LayerShares shares;
  for (const auto& part : record.flows.at(0).parts) {
    if (part.path == "query") shares.query = total(part);
    if (part.path == "key") shares.key = total(part);
    if (part.path == "value") shares.value = total(part);
    if (part.path == "residual") shares.residual = total(part);
  }
  return shares;
}

/// What flows into each layer on a new batch.
study::StepRecord record_of(AttentionStack& model, const Sequences& batch) {
  study::Recorder recorder(model, {"layers.*"}, {.parameters = false});
  loss_of(model, batch).backward();
  model.zero_grad();
  return recorder.record();
}

std::vector<LayerShares> layers_of(const study::StepRecord& step) {
  std::vector<LayerShares> layers;
  for (const auto& record : step.attention) layers.push_back(shares_of(record));
  for (size_t i = 0; i < layers.size(); ++i)
    for (const auto& point : step.points)
      if (point.name == fmt::format("layers.{}.input", i)) layers[i].gradient = point.gradient_norms.at(0);
  return layers;
}

/// Each layer on the first sequence of a batch.
std::vector<study::ReportLayer> report_layers(const study::StepRecord& step, const Sequences& batch) {
  std::vector<study::ReportToken> tokens;
  for (const int64_t letter : batch.letters.select(0, 0).to_vector<int64_t>())
    tokens.push_back({std::string(1, static_cast<char>('a' + letter))});
  std::vector<study::ReportLayer> layers;
  for (const auto& record : step.attention) layers.push_back(study::report_layer(record, 0, tokens, tokens));
  return layers;
}

double train(AttentionStack& model, const PathsOptions& options) {
  optim::Adam optimizer(model.named_parameters(), {.lr = 0.003});
  double last = 0;
  for (int64_t step = 0; step < options.steps; ++step) {
    optimizer.zero_grad();
    const Variable loss = loss_of(model, Sequences(options.length));
    loss.backward();
    optim::clip_grad_norm(model.parameters(), 1);
    optimizer.step();
    last = loss.item();
  }
  return last;
}

struct Measured {
  PathsModel model;
  std::vector<study::ReportLayer> layers;  // after training
};

Measured measure(const std::string& name, const AttentionStackOptions& stack, const PathsOptions& options) {
  manual_seed(options.seed);
  AttentionStack model(stack);
  const Sequences batch(options.length);
  Measured result{{.name = name, .before = layers_of(record_of(model, batch)), .after = {}}, {}};
  result.model.loss = train(model, options);
  const study::StepRecord after = record_of(model, batch);
  result.model.after = layers_of(after);
  result.layers = report_layers(after, batch);
  return result;
}

}  // namespace

PathsResult measure_paths(const PathsOptions& options) {
  const AttentionStackOptions one{.letters = kLetters, .width = options.width, .layers = options.layers};
  AttentionStackOptions many = one, bare = one, additive = one;
  many.heads = options.heads;
  bare.residual = false;
  additive.score = nn::ScoreKind::additive;
  const Measured with_many = measure(fmt::format("{} heads", options.heads), many, options);
  return {.one_head = measure("one head", one, options).model,
          .many_heads = with_many.model,
          .additive = measure("additive", additive, options).model,
          .no_residual = measure("no residual", bare, options).model,
          .guess = std::log(static_cast<double>(kLetters)),
          .layers = with_many.layers};
}

namespace {

using Layers = std::vector<LayerShares> PathsModel::*;

std::array<const PathsModel*, 4> models_of(const PathsResult& result) {
  return {&result.one_head, &result.many_heads, &result.additive, &result.no_residual};
}

Table table_of(const PathsResult& result, const char* when, Layers layers) {
  Table table({when, "layer", "query", "key", "value", "residual", "|gradient|"});
  for (const PathsModel* model : models_of(result))
    for (size_t i = 0; i < (model->*layers).size(); ++i) {
      const LayerShares& layer = (model->*layers)[i];
      table.add({i == 0 ? model->name : "", fmt::format("{}", i), fmt::format("{:.4f}", layer.query),
                 fmt::format("{:.4f}", layer.key), fmt::format("{:.4f}", layer.value),
                 fmt::format("{:.4f}", layer.residual), three_digits(layer.gradient)});
    }
  return table;
}

study::ReportChart::Line line_of(const PathsModel& model, Layers layers, const char* name,
                                 double LayerShares::*member) {
  study::ReportChart::Line result{name, {}, {}};
  for (const LayerShares& layer : model.*layers) {
    result.x.push_back(static_cast<double>(result.x.size()));
    result.y.push_back(layer.*member);
  }
  return result;
}

study::ReportChart shares_chart(const PathsModel& model, const char* when, Layers layers) {
  return {.title = fmt::format("{}, {}: shares of the gradient", model.name, when),
          .x_label = "layer",
          .y_label = "share",
          .lines = {line_of(model, layers, "query", &LayerShares::query),
                    line_of(model, layers, "key", &LayerShares::key),
                    line_of(model, layers, "value", &LayerShares::value),
                    line_of(model, layers, "residual", &LayerShares::residual)}};
}

/// What came through the scores: at most, of all layers.
double most_by_scores(const std::vector<LayerShares>& layers) {
  double most = 0;
  for (const LayerShares& layer : layers) most = std::max(most, layer.query + layer.key);
  return most;
}

}  // namespace

Findings findings_of(const PathsResult& result) {
  const auto &one = result.one_head, &additive = result.additive, &bare = result.no_residual;
  Findings findings;
  findings.tables = {table_of(result, "before training", &PathsModel::before),
                     table_of(result, "after training", &PathsModel::after)};
  findings.seen = fmt::format(
      "Before training, the residual passes {:.0f}% of the gradient at the last layer and {:.0f}% at the "
      "first; "
      "the values pass most of the rest, and queries and keys together {:.1f}% at most. Additive scores give "
      "the keys of the first layer {:.1f}% and its queries {:.1f}%. After training queries and keys have up "
      "to "
      "{:.0f}%. Without a residual nothing flows but through attention, and the loss is at {:.3f} where the "
      "others are at {:.3f}, {:.3f} and {:.3f}, and a guess at {:.3f}.",
      100 * one.before.back().residual, 100 * one.before.front().residual, 100 * most_by_scores(one.before),
      100 * additive.before.front().key, 100 * additive.before.front().query, 100 * most_by_scores(one.after),
      bare.loss, one.loss, result.many_heads.loss, additive.loss, result.guess);
  findings.page.title = "Who gets the gradient";
  findings.page.layers = result.layers;
  for (const PathsModel* model : models_of(result)) {
    findings.page.charts.push_back(shares_chart(*model, "before training", &PathsModel::before));
    findings.page.charts.push_back(shares_chart(*model, "after training", &PathsModel::after));
  }
  return findings;
}

}  // namespace heed::gradient_flow
