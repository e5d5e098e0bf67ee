#pragma once

#include <string>

#include <heed/nn/module.h>

namespace heed::nn {

/// A table of all parameters, at most 100 columns wide: full name, type of the module that owns it, shape,
/// count and bytes; a shared one once, under its first name, and those that are frozen marked with "*". Below
/// it stand the totals. A long name loses its beginning.
std::string summary(Module& model);

}  // namespace heed::nn
