#pragma once

#include <heed/nn/bahdanau.h>
#include <heed/nn/transformer_model.h>

#include <map>
#include <memory>
#include <string>

#include "translate/names.h"
#include "translate/preset.h"

namespace heed::translate {

enum class ModelKind { bahdanau, transformer };

const Names& model_names();
const Names& score_names();     ///< of nn::ScoreKind
const Names& position_names();  ///< of nn::PositionKind
const Names& norm_names();      ///< of nn::NormPlace

/// The score of the paper that the model is from.
nn::ScoreKind usual_score(ModelKind kind);

/// What a model is made from, apart from its vocabularies.
struct Architecture {
  static constexpr int64_t kLargestSize = 1 << 16;

  ModelKind kind = ModelKind::transformer;
  int64_t width = 0;
  int64_t feed_forward = 0;
  int64_t heads = 0;
  int64_t layers = 0;
  int64_t length = 0;  ///< the longest sentence in ids, the end marker included
  double dropout = 0;
  nn::ScoreKind score = nn::ScoreKind::dot;                  ///< of all attention
  bool attentive = false;                                    ///< of Bahdanau's model
  nn::PositionKind position = nn::PositionKind::sinusoidal;  ///< of the Transformer, as is
  nn::NormPlace norm = nn::NormPlace::post;                  ///< this

  bool operator==(const Architecture&) const = default;
};

Architecture architecture_of(const Preset& preset, ModelKind kind);

/// A model with new weights.
std::unique_ptr<nn::EncoderDecoder> build_model(const Architecture& architecture, int64_t source_words,
                                                int64_t target_words);

/// ValueError if these are too few numbers to be the weights of such a model: asked before it is made,
/// because a configuration from elsewhere may tell of any size.
void expect_fitting(const Architecture& architecture, int64_t source_words, int64_t target_words,
                    const std::map<std::string, Tensor>& weights);
/// Copies saved weights in. ValueError, and nothing is copied, if they are not finite or of another model.
void load_weights(nn::EncoderDecoder& model, const std::map<std::string, Tensor>& weights);

/// As an object of JSON, and back. ValueError for one that no model has.
std::string to_json(const Architecture& architecture);
Architecture architecture_from_json(const std::string& text);

}  // namespace heed::translate
