#include <heed/study/alignment.h>

#include <algorithm>
#include <set>
#include <tuple>

#include <heed/tensor/error.h>

namespace heed::study {

int most_attended(std::span<const float> weights, int64_t words) {
  if (words < 1 || words > std::ssize(weights))
    raise<ValueError>("[most_attended] wanted from 1 to {} words, came {}", weights.size(), words);
  const auto candidates = weights.first(static_cast<size_t>(words));
  return static_cast<int>(std::ranges::max_element(candidates) - candidates.begin());
}

Alignment within(const Alignment& links, int64_t source_words, int64_t target_words) {
  Alignment kept;
  for (const auto& [source, target] : links)
    if (source < source_words && target < target_words) kept.emplace_back(source, target);
  return kept;
}

void AlignmentCounts::add(const Alignment& found_links, const Alignment& gold) {
  const std::set<std::pair<int, int>> links(found_links.begin(), found_links.end());
  const std::set<std::pair<int, int>> truth(gold.begin(), gold.end());
  common += std::ranges::count_if(links, [&](const auto& link) { return truth.contains(link); });
  found += std::ssize(links);
  true_ones += std::ssize(truth);
}

double AlignmentCounts::error_rate() const {
  const int64_t all = found + true_ones;
  return all == 0 ? 0 : 1 - 2 * static_cast<double>(common) / static_cast<double>(all);
}

void rank(std::vector<RankedHead>& heads) {
  std::ranges::sort(heads, {}, [](const RankedHead& ranked) {
    return std::tuple(ranked.counts.error_rate(), ranked.head.layer, ranked.head.head);
  });
}

}  // namespace heed::study
