#include <heed/autograd/named.h>

#include <algorithm>
#include <numeric>

namespace heed {
namespace {

/// Levenshtein's distance, one row of its table at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // to the first letters of b, for those of a so far
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

// Where letters differ, the last star takes one letter more: of several stars only the last needs to.
bool matches(std::string_view pattern, std::string_view name) {
  constexpr size_t none = std::string_view::npos;
  size_t p = 0, n = 0, star = none, star_end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != none) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == none;
}

std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string> names,
                                       size_t count) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& name : names) ranked.emplace_back(edit_distance(wanted, name), name);
  std::ranges::stable_sort(ranked, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> nearest;
  for (auto& [distance, name] : ranked)
    if (nearest.size() < count) nearest.push_back(std::move(name));
  return nearest;
}

}  // namespace heed
