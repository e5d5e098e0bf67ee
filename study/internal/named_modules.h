#pragma once

#include <string>
#include <utility>
#include <vector>

#include <heed/nn/module.h>

namespace heed::study::internal {

/// As Module::named_modules gives them.
using NamedModules = std::vector<std::pair<std::string, nn::Module*>>;

/// Those that one of the patterns names, in their order. ValueError of `op`, with the nearest names, for a
/// pattern that names none.
NamedModules matching(const char* op, const NamedModules& modules, const std::vector<std::string>& patterns);

}  // namespace heed::study::internal
