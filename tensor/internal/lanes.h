#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Sums and maxima of short rows, gathered in as many lanes as the widest vector has. The lanes are then
/// added in pairs: quicker than the one-by-one order that a compiler must keep, closer to the true sum, and
/// the same on every processor.
namespace heed::internal {

inline constexpr int64_t kLanes = 16;

/// count rounded up to whole lanes.
constexpr int64_t whole_lanes(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// Lanes for long rows: four vectors, whose operations need not wait for one another.
inline constexpr int64_t kManyLanes = 4 * kLanes;

/// Each step is a loop of a fixed length: without that and the pragma, the compiler makes branches of it.
template <size_t kWidth, class T, size_t kCount, class Combine>
T fold_pairs(std::array<T, kCount>& lanes, Combine combine) {
#pragma omp simd
  for (size_t i = 0; i < kWidth; ++i) lanes[i] = combine(lanes[i], lanes[i + kWidth]);
  if constexpr (kWidth > 1) return fold_pairs<kWidth / 2>(lanes, combine);
  return lanes[0];
}

/// What is left beyond whole lanes is combined as whole lanes too: one by one, the lanes would go through
/// memory. The first lanes are computed, not filled in before the loop: a fill becomes stores of 8 bytes, and
/// a vector loaded just after them waits until all have reached the cache, three times what the sum of a
/// short row takes.
template <int64_t kCount, class T, class Combine, class F>
T fold(int64_t count, T first, Combine combine, F term) {
  std::array<T, kCount> lanes;
  const auto term_or_first = [=](int64_t i) { return i < count ? term(i) : first; };
  // NOLINTNEXTLINE(bugprone-branch-clone): it compares loops under omp as if they were alike
  if (count < kCount) {
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j) lanes[static_cast<size_t>(j)] = combine(first, term_or_first(j));
  } else {
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j) lanes[static_cast<size_t>(j)] = combine(first, term(j));
  }
  int64_t i = kCount;
  for (; i + kCount <= count; i += kCount)
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j)
      lanes[static_cast<size_t>(j)] = combine(lanes[static_cast<size_t>(j)], term(i + j));
  if (i < count) {
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j)
      lanes[static_cast<size_t>(j)] = combine(lanes[static_cast<size_t>(j)], term_or_first(i + j));
  }
  return fold_pairs<static_cast<size_t>(kCount / 2)>(lanes, combine);
}

/// combine(... combine(first, term(0)) ..., term(count - 1)), where neither the order nor another `first`
/// must matter to `combine`.
template <class T, class Combine, class F>
T lane_fold(int64_t count, T first, Combine combine, F term) {
  return count < 2 * kManyLanes ? fold<kLanes>(count, first, combine, term)
                                : fold<kManyLanes>(count, first, combine, term);
}

/// term(0) + ... + term(count - 1)
template <class T, class F>
T lane_sum(int64_t count, F term) {
  return lane_fold(
      count, T(0), [](T a, T b) { return a + b; }, term);
}

/// The largest of term(0) ... term(count - 1), -infinity for none; NaN are passed over.
template <class T, class F>
T lane_max(int64_t count, F term) {
  return lane_fold(
      count, -std::numeric_limits<T>::infinity(), [](T a, T b) { return b > a ? b : a; }, term);
}

}  // namespace heed::internal
