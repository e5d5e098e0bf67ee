#pragma once

#include <filesystem>

#include "translate/training.h"
#include "translate/translator.h"

/// What a training leaves in its folder beside the model's own files: recipe.json, metrics.jsonl, and
/// checkpoint.safetensors, all that it needs to go on.
namespace heed::translate {

std::filesystem::path recipe_path(const std::filesystem::path& folder);
std::filesystem::path metrics_path(const std::filesystem::path& folder);

/// ValueError for a folder with a file that a new training would replace; it says what can be done.
void expect_unused(const std::filesystem::path& folder);
/// FileError for a folder that lacks a file that a training is taken up from; it names the first.
void expect_training(const std::filesystem::path& folder);

/// Writes the checkpoint and then the model's weights, averaged where the training has an average. Each file
/// appears whole or not at all, and the one before stays until then: whenever the process dies, there is a
/// checkpoint to go on from.
void save_checkpoint(const std::filesystem::path& folder, const Training& training,
                     const Translator& translator);

/// Brings a training to where the checkpoint was taken. FileError that names the file for none, a damaged
/// one, and one of another model or of other data.
void load_checkpoint(const std::filesystem::path& folder, Training& training);

/// Removes what a training before has left there, so that no file of the old one is taken for one of the new.
void clear_training(const std::filesystem::path& folder);

}  // namespace heed::translate
