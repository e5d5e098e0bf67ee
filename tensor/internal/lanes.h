#pragma once

#include <array>
#include <cstdint>
#include <limits>

/// Sums and maxima of short rows, gathered in as many lanes as the widest vector has. The lanes are then
/// added in pairs: quicker than the one-by-one order that a compiler must keep, closer to the true sum, and
/// the same on every processor.
namespace heed::internal {

inline constexpr int64_t kLanes = 16;

/// count rounded up to whole lanes.
constexpr int64_t whole_lanes(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// Each step is a loop of a fixed length: without that and the pragma, the compiler makes branches of it.
template <size_t kWidth = kLanes / 2, class T, class Combine>
T fold_lanes(std::array<T, kLanes>& lanes, Combine combine) {
#pragma omp simd
  for (size_t i = 0; i < kWidth; ++i) lanes[i] = combine(lanes[i], lanes[i + kWidth]);
  if constexpr (kWidth > 1) return fold_lanes<kWidth / 2>(lanes, combine);
  return lanes[0];
}

/// term(0) + ... + term(count - 1). What is left beyond whole lanes is added as whole lanes too: one by one,
/// the lanes would go through memory.
template <class T, class F>
T lane_sum(int64_t count, F term) {
  std::array<T, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
#pragma omp simd
    for (int64_t j = 0; j < kLanes; ++j) lanes[static_cast<size_t>(j)] += term(i + j);
#pragma omp simd
  for (int64_t j = 0; j < kLanes; ++j) lanes[static_cast<size_t>(j)] += i + j < count ? term(i + j) : T(0);
  return fold_lanes(lanes, [](T a, T b) { return a + b; });
}

/// combine(... combine(first, term(0)) ..., term(count - 1)), where the order must not matter to `combine`.
template <class T, class Combine, class F>
T lane_fold(int64_t count, T first, Combine combine, F term) {
  std::array<T, kLanes> lanes;
  lanes.fill(first);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
#pragma omp simd
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[static_cast<size_t>(j)] = combine(lanes[static_cast<size_t>(j)], term(i + j));
#pragma omp simd
  for (int64_t j = 0; j < kLanes; ++j)
    lanes[static_cast<size_t>(j)] =
        combine(lanes[static_cast<size_t>(j)], i + j < count ? term(i + j) : first);
  return fold_lanes(lanes, combine);
}

/// The largest of term(0) ... term(count - 1), -infinity for none; NaN are passed over.
template <class T, class F>
T lane_max(int64_t count, F term) {
  return lane_fold(
      count, -std::numeric_limits<T>::infinity(), [](T a, T b) { return b > a ? b : a; }, term);
}

}  // namespace heed::internal
