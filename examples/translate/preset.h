#pragma once

#include <cstdint>
#include <string>

namespace heed::translate {

enum class ModelKind { bahdanau, transformer };

/// The size of a model and of its training.
struct Preset {
  int64_t examples;      ///< pairs that are read
  int64_t width;         ///< of embeddings and states
  int64_t feed_forward;  ///< inside the Transformer's feed-forward layers
  int64_t heads;
  int64_t layers;
  int64_t batch;
  int64_t length;         ///< ids of a sentence, the end marker included
  int64_t min_frequency;  ///< rarer words are <unk>
  double dropout;
};

/// ValueError that lists the presets when there is none of that name.
const Preset& preset_by_name(const std::string& name);

/// ValueError that lists the models when there is none of that name.
ModelKind model_kind_by_name(const std::string& name);
std::string name_of(ModelKind kind);

}  // namespace heed::translate
