#pragma once

#include <string>
#include <string_view>

namespace heed {

/// `text` between quotation marks, fit for a one-line message whatever it holds: control characters,
/// quotation marks and backslashes are escaped, and more than 200 bytes are cut short with "...".
std::string in_quotes(std::string_view text);

}  // namespace heed
