#include "translate/checkpoint.h"

#include <heed/tensor/error.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_path(const fs::path& folder) { return folder / "checkpoint.safetensors"; }

/// All that a training is taken up from.
std::vector<fs::path> paths_of_training(const fs::path& folder) {
  std::vector<fs::path> paths = model_paths(folder);
  paths.insert(paths.begin(), {recipe_path(folder), checkpoint_path(folder)});
  return paths;
}

}  // namespace

fs::path recipe_path(const fs::path& folder) { return folder / "recipe.json"; }
fs::path metrics_path(const fs::path& folder) { return folder / "metrics.jsonl"; }

void expect_unused(const fs::path& folder) {
  const auto exists = [](const fs::path& path) { return fs::exists(path); };
  std::vector<fs::path> paths = paths_of_training(folder);
  if (std::ranges::all_of(paths, exists))
    raise<ValueError>(
        "[train] {}: there is a model already: --resume goes on with its training, --overwrite begins anew",
        folder.string());
  paths.push_back(metrics_path(folder));
  const auto found = std::ranges::find_if(paths, exists);
  if (found != paths.end())
    raise<ValueError>(
        "[train] {}: there is a {} already, of no training to go on with: --overwrite replaces it",
        folder.string(), found->filename().string());
}

void expect_training(const fs::path& folder) {
  for (const fs::path& path : paths_of_training(folder))
    if (!fs::exists(path))
      raise<FileError>(
          "[train] {}: wanted the folder of a training, came one without {}: --overwrite begins anew",
          folder.string(), path.filename().string());
}

void save_checkpoint(const fs::path& folder, const Training& training, const Translator& translator) {
  optim::save_snapshot(checkpoint_path(folder).string(), training.snapshot());
  const auto averaged = training.averaged();
  translator.save_weights(folder);
}

void load_checkpoint(const fs::path& folder, Training& training) {
  const fs::path path = checkpoint_path(folder);
  try {
    training.restore(optim::load_snapshot(path.string()));
  } catch (const FileError&) {
    throw;  // names the file
  } catch (const Error& problem) {
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
