#include "translate/checkpoint.h"

#include <heed/tensor/error.h>

#include <system_error>

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_path(const fs::path& folder) { return folder / "checkpoint.safetensors"; }

}  // namespace

fs::path recipe_path(const fs::path& folder) { return folder / "recipe.json"; }
fs::path metrics_path(const fs::path& folder) { return folder / "metrics.jsonl"; }

bool holds_training(const fs::path& folder) {
  return fs::exists(checkpoint_path(folder)) || fs::exists(weights_path(folder));
}

void save_checkpoint(const fs::path& folder, const Training& training, const Translator& translator) {
  optim::save_snapshot(checkpoint_path(folder).string(), training.snapshot());
  translator.save_weights(folder);
}

void load_checkpoint(const fs::path& folder, Training& training) {
  const fs::path path = checkpoint_path(folder);
  if (!fs::exists(path))
    raise<FileError>("[train] {}: wanted a folder with a training to go on with, came one without {}",
                     folder.string(), path.filename().string());
  try {
    training.restore(optim::load_snapshot(path.string()));
  } catch (const ValueError& problem) {
    raise<FileError>("[train] {}: not a checkpoint of this training: {}", path.string(), problem.what());
  } catch (const ShapeError& problem) {
    raise<FileError>("[train] {}: not a checkpoint of this training: {}", path.string(), problem.what());
  }
}

void clear_training(const fs::path& folder) {
  for (const fs::path& path :
       {checkpoint_path(folder), weights_path(folder), metrics_path(folder), recipe_path(folder)}) {
    std::error_code problem;
    fs::remove(path, problem);
    if (problem) raise<FileError>("[train] {}: cannot be removed: {}", path.string(), problem.message());
  }
}

}  // namespace heed::translate
