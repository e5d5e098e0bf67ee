#pragma once

#include <span>
#include <string_view>

/// The files of study/page as the build embeds them.
namespace heed::study::internal {

extern const std::string_view page_html;   ///< with {{style}}, {{data}} and {{script}} to fill in
extern const std::string_view page_style;  ///< page.css
extern const std::span<const std::string_view> page_scripts;  ///< in the order in which they run

}  // namespace heed::study::internal
