#pragma once

#include <cstdint>
#include <string>

namespace heed::translate {

/// The size of a model, and how one of that size is trained.
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
  double lr;             ///< Adam's learning rate, at its highest
  int64_t warmup_steps;  ///< up to that rate, which then falls with the square root of the step; 0: constant
  double average;        ///< decay of the average of the weights: see TrainingOptions
  int64_t epochs;        ///< on pairs from a file
};

/// ValueError that lists the presets when there is none of that name.
const Preset& preset_by_name(const std::string& name);

}  // namespace heed::translate
