#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heed/autograd/variable.h>

namespace heed {

/// Parameters by their dotted names, as models give them and optimizers take them.
using NamedVariables = std::vector<std::pair<std::string, Variable>>;

/// True if the whole name is the pattern, each * of which stands for any letters, dots and none among them:
/// "decoder.*.cross_attention" is "decoder.layers.0.cross_attention".
bool matches(std::string_view pattern, std::string_view name);

/// The names that differ in the fewest letters, put in, left out or replaced; the first of equally near ones.
/// For messages about a name that is not there.
std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string> names,
                                       size_t count = 3);

}  // namespace heed
