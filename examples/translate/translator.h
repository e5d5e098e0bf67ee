#pragma once

#include <heed/nn/encoder_decoder.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "translate/architecture.h"
#include "translate/data/vocabulary.h"

namespace heed::translate {

struct TranslateOptions {
  int64_t beam = 1;              ///< hypotheses that are kept; 1 chooses the likeliest word at each step
  double length_penalty = 1;     ///< of the beam search
  bool attention = false;        ///< tell which source words each target word came from
  bool replace_unknown = false;  ///< put the source word that was looked at most for each <unk>
};

struct Translation {
  std::string text;
  Sentence source, target;  ///< the words, and the end marker where there is one
  Tensor attention;  ///< f32 (target words, source words), the mean of all heads and layers, where asked for
};

/// A model with the vocabularies that its ids stand for: what is trained, saved, and asked for translations.
class Translator {
 public:
  Translator(const Architecture& architecture, Vocabulary source, Vocabulary target);

  nn::EncoderDecoder& model() { return *model_; }
  const Architecture& architecture() const { return architecture_; }
  const Vocabulary& source() const { return source_; }
  const Vocabulary& target() const { return target_; }

  /// The translations of cleaned or raw sentences, one each and in order. An empty sentence gives an empty
  /// translation, and one that is too long for the model is cut. The mode of the model is left as it was.
  std::vector<Translation> translate(const std::vector<std::string>& sentences,
                                     const TranslateOptions& options);
  /// The texts alone, choosing the likeliest word at each step.
  std::vector<std::string> translate(const std::vector<std::string>& sentences);

  /// Writes the model to a folder, which is made if need be: config.json, the two vocabularies, and
  /// model.safetensors, each of them whole or not at all.
  void save(const std::filesystem::path& folder) const;
  /// model.safetensors alone.
  void save_weights(const std::filesystem::path& folder) const;
  /// FileError for a folder that holds no model, or a damaged one.
  static Translator load(const std::filesystem::path& folder);

 private:
  Architecture architecture_;
  Vocabulary source_, target_;
  std::unique_ptr<nn::EncoderDecoder> model_;
};

/// Where the files of the model of a folder are: config.json, the vocabularies, and the weights.
std::vector<std::filesystem::path> model_paths(const std::filesystem::path& folder);
/// The last of them.
std::filesystem::path weights_path(const std::filesystem::path& folder);

}  // namespace heed::translate
