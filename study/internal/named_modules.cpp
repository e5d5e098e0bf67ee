#include <heed/study/internal/named_modules.h>

#include <fmt/format.h>

#include <algorithm>

namespace heed::study::internal {

NamedModules matching(const char* op, const NamedModules& modules, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const auto& [name, module] : modules) names.push_back(name);
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(names, [&](const std::string& name) { return matches(pattern, name); }))
      raise<ValueError>("[{}] no module is called \"{}\"; the nearest names are \"{}\"", op, pattern,
                        fmt::join(nearest_names(pattern, names), "\", \""));
  NamedModules found;
  for (const auto& entry : modules)
    if (std::ranges::any_of(patterns, [&](const auto& pattern) { return matches(pattern, entry.first); }))
      found.push_back(entry);
  return found;
}

}  // namespace heed::study::internal
