#pragma once

#include <string>
#include <utility>
#include <vector>

#include <heed/autograd/variable.h>

namespace heed {

/// Parameters by their dotted names, as models give them and optimizers take them.
using NamedVariables = std::vector<std::pair<std::string, Variable>>;

}  // namespace heed
