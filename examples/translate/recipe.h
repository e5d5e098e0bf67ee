#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "translate/architecture.h"

namespace heed::translate {

/// The largest of the counts below. With as many steps in an epoch, the number of steps still is an int64_t.
inline constexpr int64_t kMostCount = 1'000'000'000;
inline constexpr int64_t kMostShards = 1024;

/// All that a training is told: with the data, enough to repeat it to the last bit. In files and in `given`
/// below, each member goes by the name of its option in `train`, with _ for -.
struct Recipe {
  std::string data;     ///< what load_pairs() reads
  bool strict = false;  ///< a line that holds no pair is an error
  std::string preset;
  std::string model, score, position, norm;
  bool attentive = false;  ///< see nn::Bahdanau
  double dropout = 0;
  int64_t length = 0;    ///< ids of a sentence, the end marker included; longer ones are cut
  int64_t examples = 0;  ///< pairs that are read; 0: all
  int64_t holdout = 0;   ///< sources with crc32(source) % holdout == 0 are kept out of training; 0: none
  double lr = 0;
  int64_t warmup_steps = 0;
  double average = 0;   ///< see TrainingOptions
  bool bucket = false;  ///< batches of sentences of about the same length
  int64_t shards = 0;   ///< parts of a batch that are computed at once: see TrainingOptions
  uint64_t seed = 0;
  int64_t epochs = 0;  ///< how long; 0: as many as give
  int64_t steps = 0;   ///< these steps
};

/// What was asked for, and for the rest what suits the preset and the data. ValueError where options do not
/// go together.
Recipe make_recipe(const nlohmann::json& given);

/// To go on with a training: only the place of the data, and how long, may be new. ValueError that lists
/// what else was asked for and is not what it was.
Recipe continued(const Recipe& recipe, const nlohmann::json& given);

Architecture architecture_of(const Recipe& recipe);

void save_recipe(const std::filesystem::path& path, const Recipe& recipe);
/// What a file from before a member was known lacks is as it was done then. FileError for a file that holds
/// no recipe.
Recipe load_recipe(const std::filesystem::path& path);

}  // namespace heed::translate
