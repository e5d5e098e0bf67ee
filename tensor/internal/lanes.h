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

template <class T, class Combine>
T fold_lanes(std::array<T, kLanes>& lanes, Combine combine) {
  for (size_t width = kLanes / 2; width > 0; width /= 2)
    for (size_t i = 0; i < width; ++i) lanes[i] = combine(lanes[i], lanes[i + width]);
  return lanes[0];
}

/// term(0) + ... + term(count - 1)
template <class T, class F>
T lane_sum(int64_t count, F term) {
  std::array<T, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
#pragma omp simd
    for (int64_t j = 0; j < kLanes; ++j) lanes[static_cast<size_t>(j)] += term(i + j);
  for (int64_t j = 0; i + j < count; ++j) lanes[static_cast<size_t>(j)] += term(i + j);
  return fold_lanes(lanes, [](T a, T b) { return a + b; });
}

/// The largest of term(0) ... term(count - 1), -infinity for none; NaN are passed over.
template <class T, class F>
T lane_max(int64_t count, F term) {
  const auto larger = [](T a, T b) { return a > b ? a : b; };
  std::array<T, kLanes> lanes;
  lanes.fill(-std::numeric_limits<T>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
#pragma omp simd
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[static_cast<size_t>(j)] = larger(term(i + j), lanes[static_cast<size_t>(j)]);
  for (int64_t j = 0; i + j < count; ++j)
    lanes[static_cast<size_t>(j)] = larger(term(i + j), lanes[static_cast<size_t>(j)]);
  return fold_lanes(lanes, larger);
}

}  // namespace heed::internal
