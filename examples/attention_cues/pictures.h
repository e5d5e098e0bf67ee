#pragma once

#include <filesystem>

#include "attention_cues/regression.h"

namespace cues {

/// The pictures of the guide, docs/attention.md, as SVG files. FileError where one cannot be written.
void write_pictures(const std::filesystem::path& folder, const Data& data, const Results& results);

}  // namespace cues
