#include "gradient_flow/align.h"

#include <fmt/format.h>
#include <heed/study/recorder.h>
#include <heed/study/report_layers.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <limits>

#include "gradient_flow/data.h"
#include "translate/corpus/corpus.h"
#include "translate/eval/teacher_forcing.h"
#include "translate/training.h"

namespace heed::gradient_flow {
namespace {

using translate::SentencePair;
using translate::Translator;
using translate::Vocabulary;

/// Adds the error rate of each head as it is now.
void measure_heads(AlignResult& result, Translator& translator, std::span<const SentencePair> kept_out) {
  for (const auto& [head, counts] : translate::rank_heads(translator, kept_out)) {
    const std::string name = fmt::format("L{}H{}", head.layer, head.head);
    auto found = std::ranges::find(result.heads, name, &AlignResult::Head::name);
    if (found == result.heads.end()) found = result.heads.insert(found, {name, {}});
    found->error_rates.push_back(counts.error_rate());
  }
}

std::vector<study::ReportToken> tokens_of(const std::vector<int64_t>& ids, const Vocabulary& vocabulary) {
  std::vector<study::ReportToken> tokens;
  for (const int64_t id : ids) tokens.push_back({vocabulary.word(id), id == Vocabulary::kEnd});
  return tokens;
}

/// How each layer looks at the source while it is told the true translation of one sentence. A query is
/// named by the word that it is to predict.
std::vector<study::ReportLayer> report_layers(Translator& translator, const SentencePair& pair) {
  const translate::Encoded example = translate::encode_pair(pair, translator.source(), translator.target(),
                                                            translator.architecture().length);
  const bool is_transformer = translator.architecture().kind == translate::ModelKind::transformer;
  study::Recorder recorder(translator.model(), {is_transformer ? "decoder.*.cross_attention" : "attention"},
                           {.parameters = false});
  translator.model().eval();
  loss_of(translator.model(), side_by_side(std::span(&example, 1))).backward();
  translator.model().zero_grad();
  std::vector<study::ReportLayer> layers;
  for (const auto& record : recorder.record().attention)
    layers.push_back(study::report_layer(record, 0, tokens_of(example.target, translator.target()),
                                         tokens_of(example.source, translator.source())));
  return layers;
}

Translator new_translator(const AlignOptions& options, const std::vector<SentencePair>& pairs) {
  const translate::Preset& toy = translate::preset_by_name("toy");
  manual_seed(options.seed);
  return {translate::architecture_of(toy, options.model),
          Vocabulary(translate::sources(pairs), toy.min_frequency),
          Vocabulary(translate::targets(pairs), toy.min_frequency)};
}

}  // namespace

AlignResult measure_align(const AlignOptions& options) {
  if (options.sentences >= options.pairs)
    raise<ValueError>("[align] wanted fewer sentences to keep out than pairs, came {} of {}",
                      options.sentences, options.pairs);
  std::vector<SentencePair> pairs = translate::corpus(options.pairs, options.seed);
  const std::vector<SentencePair> kept_out(pairs.begin(), pairs.begin() + options.sentences);
  pairs.erase(pairs.begin(), pairs.begin() + options.sentences);
  Translator translator = new_translator(options, pairs);
  const auto examples = translate::encode_pairs(pairs, translator.source(), translator.target(),
                                                translator.architecture().length);
  translate::Training training(translator.model(), examples, {.seed = options.seed});

  AlignResult result;
  result.lowest = translate::best_single_links(translator, kept_out).error_rate();
  double loss = std::numeric_limits<double>::quiet_NaN();
  for (int64_t done = 0;; done += options.every) {
    result.steps.push_back(static_cast<double>(done));
    result.losses.push_back(loss);
    measure_heads(result, translator, kept_out);
    if (done + options.every > options.steps) break;
    loss = 0;
    for (int64_t i = 0; i < options.every; ++i)
      loss += training.step().loss / static_cast<double>(options.every);
  }
  std::ranges::sort(result.heads, {}, &AlignResult::Head::name);
  const auto words = [](const SentencePair& pair) { return pair.source.size(); };
  result.layers = report_layers(translator, *std::ranges::max_element(kept_out, {}, words));
  return result;
}

Findings findings_of(const AlignResult& result) {
  Findings findings;
  std::vector<std::string> heading{"step", "loss"};
  for (const auto& head : result.heads) heading.push_back(head.name);
  Table table(heading);
  for (size_t i = 0; i < result.steps.size(); ++i) {
    std::vector<std::string> row{fmt::format("{}", result.steps[i]), three_digits(result.losses[i])};
    for (const auto& head : result.heads) row.push_back(fmt::format("{:.3f}", head.error_rates[i]));
    table.add(row);
  }
  findings.tables = {table};
  const auto last = [](const AlignResult::Head& head) { return head.error_rates.back(); };
  const auto& best = *std::ranges::min_element(result.heads, {}, last);
  findings.seen = fmt::format(
      "Nobody told the heads which word translates which. In {} steps {}, the best of {} at last, goes from "
      "an "
      "alignment error rate of {:.3f} to {:.3f}; the lowest possible with one link for each word is {:.3f}.",
      result.steps.back(), best.name, result.heads.size(), best.error_rates.front(), best.error_rates.back(),
      result.lowest);
  findings.page.title = "Attention that aligns";
  findings.page.layers = result.layers;
  study::ReportChart chart{.title = "Alignment error rate of each head",
                           .x_label = "steps of training",
                           .y_label = "alignment error rate",
                           .lines = {}};
  for (const auto& head : result.heads)
    chart.lines.push_back(line(head.name, result.steps, head.error_rates));
  chart.lines.push_back(
      line("lowest possible", result.steps, std::vector<double>(result.steps.size(), result.lowest)));
  findings.page.charts = {chart,
                          {.title = "Loss",
                           .x_label = "steps of training",
                           .y_label = "nats per target token",
                           .log_y = true,
                           .lines = {line("loss", result.steps, result.losses)}}};
  return findings;
}

}  // namespace heed::gradient_flow
