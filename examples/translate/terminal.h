#pragma once

#include <string>
#include <string_view>

namespace heed::translate {

/// How many columns standard error, or standard output, has; 0 when it is no terminal.
int error_columns();
int output_columns();

/// How many columns a text takes: not its bytes, and more than its letters where these are wide.
int display_width(std::string_view utf8);
/// The text, or as much of its begin as fits with an ellipsis behind it. A width below 1 leaves nothing.
std::string fitted(std::string_view utf8, int width);

}  // namespace heed::translate
