#include "translate/architecture.h"

#include <heed/tensor/error.h>
#include <heed/tensor/kernels/reduce.h>

#include <nlohmann/json.hpp>

#include "translate/json_file.h"

namespace heed::translate {
namespace {

using nlohmann::json;

int64_t size_at(const json& config, const char* key) {
  return whole_number_at(config, key, 1, Architecture::kLargestSize);
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

/// Numbers that such a model has at least: those of its embeddings, of its output layer, and of the products
/// in its layers.
int64_t least_numbers(const Architecture& a, int64_t source_words, int64_t target_words) {
  const int64_t of_words = (source_words + 2 * target_words) * a.width, square = a.width * a.width;
  if (a.kind == ModelKind::bahdanau)  // each GRU cell has three gates of two products, in both stacks
    return of_words + a.layers * 2 * 6 * square;
  // Attention has a product for its values and one for its output, once in the encoder and twice in the
  // decoder.
  return of_words + a.layers * (3 * 2 * square + 2 * 2 * a.width * a.feed_forward);
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

void expect_fitting(const Architecture& architecture, int64_t source_words, int64_t target_words,
                    const std::map<std::string, Tensor>& weights) {
  int64_t numbers = 0;
  for (const auto& [name, tensor] : weights) numbers += tensor.numel();
  const int64_t least = least_numbers(architecture, source_words, target_words);
  if (numbers < least)
    raise<ValueError>("wanted weights of {} numbers or more for a model of these sizes, came {}", least,
                      numbers);
}

void load_weights(nn::EncoderDecoder& model, const std::map<std::string, Tensor>& weights) {
  for (const auto& [name, tensor] : weights)
    if (is_floating(tensor.dtype()) && !kernels::all_finite(tensor))
      raise<ValueError>("wanted finite weights, came others in \"{}\"", name);
  model.load_state_dict(weights);
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
