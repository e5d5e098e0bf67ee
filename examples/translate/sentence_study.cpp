#include "translate/sentence_study.h"

#include <fmt/format.h>
#include <heed/nn/eval_mode.h>
#include <heed/nn/loss.h>
#include <heed/study/integrated_gradients.h>
#include <heed/study/intervention.h>
#include <heed/study/recorder.h>
#include <heed/study/report_layers.h>
#include <heed/tensor/creation.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "translate/data/batches.h"
#include "translate/session.h"

namespace heed::translate {
namespace {

/// A sentence pair as a batch of one row, asked in evaluation mode while this lives.
class Asked {
 public:
  Asked(Translator& translator, const Encoded& example) : model_(translator.model()), evaluation_(model_) {
    const std::vector<Encoded> examples{example};
    const std::vector<int64_t> indices{0};
    batch_ = make_batch(examples, indices, length_of(example));
  }

  Variable loss() const {
    const auto grid = [&](const std::vector<int64_t>& ids) {
      return from_values<int64_t>(ids, {1, batch_.length});
    };
    const Tensor lengths = from_values<int64_t>(batch_.source_lengths, {1});
    return nn::cross_entropy(model_(grid(batch_.source), lengths, grid(batch_.target_in)),
                             grid(batch_.target_out), {.ignore_index = Vocabulary::kPadding});
  }

 private:
  nn::EncoderDecoder& model_;
  nn::EvalMode evaluation_;
  Batch batch_;
};

const study::ReportToken kEndToken{"<eos>", true}, kBeginToken{"<bos>", true};

/// The words that the model is given, as they were written, also those that it does not know.
std::vector<study::ReportToken> tokens_of(const Sentence& words, size_t count) {
  std::vector<study::ReportToken> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back({words[i]});
  return tokens;
}

/// Self-attention of the encoder looks at the source, that of the decoder at what it was fed, and all other
/// attention, a step for each word that is written, at the source.
study::ReportLayer layer_of(const study::AttentionRecord& record, const SentenceStudy& studied) {
  if (record.name.starts_with("encoder"))
    return study::report_layer(record, 0, studied.source, studied.source);
  if (record.name.ends_with("self_attention"))
    return study::report_layer(record, 0, studied.fed, studied.fed);
  return study::report_layer(record, 0, studied.written, studied.source);
}

study::ReportChart attributions(Translator& translator, const SentenceStudy& studied, const Asked& asked) {
  const auto found = study::integrated_gradients(translator.model().get_submodule("source_embedding"),
                                                 "output", [&] { return asked.loss(); });
  study::ReportChart chart;
  chart.title = "What each source word takes from the loss, or adds to it";
  chart.x_label = "source word";
  chart.y_label = fmt::format("integrated gradient (completeness error {:.2g})", found.completeness_error);
  study::ReportChart::Line line;
  line.name = "attribution";
  const auto values = found.attributions.to_vector<double>();
  for (size_t i = 0; i < studied.source.size(); ++i) {
    line.x.push_back(static_cast<double>(i + 1));
    line.y.push_back(values[i]);
  }
  chart.lines.push_back(line);
  return chart;
}

study::ReportChart ablations(Translator& translator, const Asked& asked) {
  study::ReportChart chart;
  chart.title = "What the loss becomes more without a head";
  chart.x_label = "head";
  chart.y_label = "change of the loss, nats per token";
  const auto effects = study::head_effects(translator.model(), {"*"}, [&] { return asked.loss().item(); });
  for (const study::HeadEffect& one : effects) {
    if (chart.lines.empty() || chart.lines.back().name != one.layer)
      chart.lines.push_back({one.layer, {}, {}});
    chart.lines.back().x.push_back(static_cast<double>(one.head));
    chart.lines.back().y.push_back(one.effect.change());
  }
  return chart;
}

/// Loss and gradient norms of a training, from the lines of its metrics; nothing where there are none.
std::vector<study::ReportChart> training_charts(const std::filesystem::path& folder) {
  std::map<std::string, study::ReportChart::Line> norms;
  study::ReportChart::Line loss{"loss", {}, {}};
  std::ifstream file(folder / "metrics.jsonl");
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object() || line.value("kind", "") != "step" ||
        !line.value("step", nlohmann::json()).is_number())
      continue;
    const double step = line["step"];
    const auto add = [&](study::ReportChart::Line& to, const nlohmann::json& value) {
      if (!value.is_number()) return;
      to.x.push_back(step);
      to.y.push_back(value);
    };
    add(loss, line.value("loss", nlohmann::json()));
    const auto by_layer = line.value("gradient_norms", nlohmann::json::object());
    for (const auto& [layer, norm] : by_layer.items()) {
      norms[layer].name = layer;
      add(norms[layer], norm);
    }
  }
  study::ReportChart of_loss, of_norms;
  of_loss.title = "Loss over training";
  of_norms.title = "Gradient norms by layer over training";
  of_loss.x_label = of_norms.x_label = "step";
  of_loss.y_label = "nats per target token";
  of_norms.y_label = "norm after clipping";
  of_norms.log_y = true;
  if (!loss.x.empty()) of_loss.lines.push_back(loss);
  for (auto& [layer, line] : norms) of_norms.lines.push_back(std::move(line));
  std::vector<study::ReportChart> charts;
  for (study::ReportChart* chart : {&of_norms, &of_loss})
    if (!chart->lines.empty()) charts.push_back(std::move(*chart));
  return charts;
}

std::string text_of(const std::vector<study::ReportToken>& tokens) {
  std::string text;
  for (const study::ReportToken& token : tokens) text += (text.empty() ? "" : " ") + token.text;
  return text;
}

}  // namespace

SentenceStudy study_sentence(Translator& translator, const Sentence& source, const Sentence& target) {
  if (source.empty() || target.empty())
    raise<ValueError>("[study] wanted a sentence and a translation with words, came \"{}\" and \"{}\"",
                      joined(source), joined(target));
  const Encoded example = encode_pair({source, target, {}}, translator.source(), translator.target(),
                                      translator.architecture().length);
  SentenceStudy studied;
  studied.source = tokens_of(source, example.source.size() - 1);
  studied.written = tokens_of(target, example.target.size() - 1);
  studied.fed = studied.written;
  studied.source.push_back(kEndToken);
  studied.written.push_back(kEndToken);
  studied.fed.insert(studied.fed.begin(), kBeginToken);
  studied.example = example;
  const Asked asked(translator, example);
  study::Recorder recorder(translator.model(), {"*"});
  translator.model().zero_grad();
  const Variable loss = asked.loss();
  loss.backward();
  studied.loss = loss.item();
  studied.record = recorder.record();
  translator.model().zero_grad();
  return studied;
}

study::Report sentence_report(Translator& translator, const SentenceStudy& studied,
                              const std::filesystem::path& folder) {
  study::Report report;
  report.title = text_of(studied.source);
  report.text = fmt::format(
      "Source: {}\nTranslation: {}\nLoss: {:.4f} nats per token.\n\nGradients are those of this loss. Where "
      "the decoder "
      "looks at the source, a row is the step that writes its word; in its self-attention, a row is the step "
      "that is "
      "fed its word.",
      text_of(studied.source), text_of(studied.written), studied.loss);
  for (const study::AttentionRecord& record : studied.record.attention)
    report.layers.push_back(layer_of(record, studied));
  const Asked asked(translator, studied.example);
  report.charts.push_back(attributions(translator, studied, asked));
  report.charts.push_back(ablations(translator, asked));
  for (study::ReportChart& chart : training_charts(folder)) report.charts.push_back(std::move(chart));
  return report;
}

}  // namespace heed::translate
