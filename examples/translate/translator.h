#pragma once

#include <heed/nn/encoder_decoder.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "translate/data/vocabulary.h"
#include "translate/preset.h"

namespace heed::translate {

/// What a model is made from, apart from its vocabularies.
struct Architecture {
  ModelKind kind = ModelKind::transformer;
  int64_t width = 0;
  int64_t feed_forward = 0;
  int64_t heads = 0;
  int64_t layers = 0;
  int64_t length = 0;  ///< the longest sentence in ids, the end marker included
  double dropout = 0;
};

Architecture architecture_of(const Preset& preset, ModelKind kind);

/// A model with the vocabularies that its ids stand for: what is trained, saved, and asked for translations.
class Translator {
 public:
  Translator(const Architecture& architecture, Vocabulary source, Vocabulary target);

  nn::EncoderDecoder& model() { return *model_; }
  const Architecture& architecture() const { return architecture_; }
  const Vocabulary& source() const { return source_; }
  const Vocabulary& target() const { return target_; }

  /// The translations of cleaned or raw sentences, one each and in order, choosing the likeliest word at each
  /// step. An empty sentence gives an empty translation. The model is left in evaluation mode.
  std::vector<std::string> translate(const std::vector<std::string>& sentences);

  /// Writes the model to a folder, which is made if need be: config.json, the two vocabularies, and
  /// model.safetensors, each of them whole or not at all.
  void save(const std::filesystem::path& folder) const;
  /// FileError for a folder that holds no model, or a damaged one.
  static Translator load(const std::filesystem::path& folder);

 private:
  std::vector<std::string> translate_batch(std::span<const Sentence> sentences);

  Architecture architecture_;
  Vocabulary source_, target_;
  std::unique_ptr<nn::EncoderDecoder> model_;
};

}  // namespace heed::translate
