#include "translate/architecture.h"

#include <heed/tensor/error.h>

#include <nlohmann/json.hpp>

namespace heed::translate {
namespace {

using nlohmann::json;

int64_t size_at(const json& config, const char* key) {
  constexpr int64_t kMost = Architecture::kLargestSize;
  const auto value = config.at(key).get<int64_t>();
  if (value < 1 || value > kMost) raise<ValueError>("wanted \"{}\" in [1, {}], came {}", key, kMost, value);
  return value;
}

int64_t place_at(const json& config, const char* key, const Names& names) {
  return names.place(config.at(key).get<std::string>());
}

Architecture read(const json& config) {
  const Architecture a{
      .kind = static_cast<ModelKind>(place_at(config, "model", model_names())),
      .width = size_at(config, "width"),
      .feed_forward = size_at(config, "feed_forward"),
      .heads = size_at(config, "heads"),
      .layers = size_at(config, "layers"),
      .length = size_at(config, "length"),
      .dropout = config.at("dropout").get<double>(),
      .score = static_cast<nn::ScoreKind>(place_at(config, "score", score_names())),
      .attentive = config.at("attentive").get<bool>(),
      .position = static_cast<nn::PositionKind>(place_at(config, "position", position_names())),
      .norm = static_cast<nn::NormPlace>(place_at(config, "norm", norm_names()))};
  if (!(a.dropout >= 0 && a.dropout <= 1))
    raise<ValueError>("wanted \"dropout\" in [0, 1], came {}", a.dropout);
  return a;
}

/// The Transformer's: scaled dot products, or sums with as large a hidden layer as a head is wide.
nn::ScoreChoice score_of_heads(const Architecture& a) {
  if (a.score == nn::ScoreKind::dot) return {};
  return nn::each_head<nn::AdditiveScore>({.hidden = a.width / a.heads});
}

}  // namespace

const Names& model_names() {
  static const Names names("model", {"bahdanau", "transformer"});
  return names;
}

const Names& score_names() {
  static const Names names("score", {"additive", "dot"});
  return names;
}

const Names& position_names() {
  static const Names names("position", {"sinusoidal", "learned", "rotary", "none"});
  return names;
}

const Names& norm_names() {
  static const Names names("norm", {"pre", "post"});
  return names;
}

nn::ScoreKind usual_score(ModelKind kind) {
  return kind == ModelKind::bahdanau ? nn::ScoreKind::additive : nn::ScoreKind::dot;
}

Architecture architecture_of(const Preset& preset, ModelKind kind) {
  return {.kind = kind,
          .width = preset.width,
          .feed_forward = preset.feed_forward,
          .heads = preset.heads,
          .layers = preset.layers,
          .length = preset.length,
          .dropout = preset.dropout,
          .score = usual_score(kind)};
}

std::unique_ptr<nn::EncoderDecoder> build_model(const Architecture& a, int64_t source_words,
                                                int64_t target_words) {
  if (a.kind == ModelKind::bahdanau)
    return std::make_unique<nn::Bahdanau>(nn::BahdanauOptions{.source_vocabulary = source_words,
                                                              .target_vocabulary = target_words,
                                                              .width = a.width,
                                                              .layers = a.layers,
                                                              .dropout = a.dropout,
                                                              .score = a.score,
                                                              .attentive = a.attentive});
  return std::make_unique<nn::TransformerModel>(
      nn::TransformerModelOptions{.source_vocabulary = source_words,
                                  .target_vocabulary = target_words,
                                  .stack = {.width = a.width,
                                            .feed_forward = a.feed_forward,
                                            .heads = a.heads,
                                            .layers = a.layers,
                                            .dropout = a.dropout,
                                            .norm = a.norm,
                                            .score = score_of_heads(a)},
                                  .position = a.position,
                                  .max_length = a.length});
}

std::string to_json(const Architecture& a) {
  const json config{{"model", model_names().at(static_cast<int64_t>(a.kind))},
                    {"width", a.width},
                    {"feed_forward", a.feed_forward},
                    {"heads", a.heads},
                    {"layers", a.layers},
                    {"length", a.length},
                    {"dropout", a.dropout},
                    {"score", score_names().at(static_cast<int64_t>(a.score))},
                    {"attentive", a.attentive},
                    {"position", position_names().at(static_cast<int64_t>(a.position))},
                    {"norm", norm_names().at(static_cast<int64_t>(a.norm))}};
  return config.dump(2) + "\n";
}

Architecture architecture_from_json(const std::string& text) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& problem) {
    raise<ValueError>("wanted a model's configuration, came: {}", problem.what());
  }
}

}  // namespace heed::translate
