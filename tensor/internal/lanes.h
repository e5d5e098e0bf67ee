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

/// Lanes for long rows: four vectors, whose operations need not wait for one another.
inline constexpr int64_t kManyLanes = 4 * kLanes;

/// combine(...(combine(start, term(0)), ...), term(count - 1)), gathered in lanes.
template <class T, int64_t Lanes, class F, class Combine>
T fold(int64_t count, T start, F term, Combine combine) {
  std::array<T, Lanes> lanes;
  lanes.fill(start);
  int64_t i = 0;
  for (; i + Lanes <= count; i += Lanes)
#pragma omp simd
    for (int64_t j = 0; j < Lanes; ++j)
      lanes[static_cast<size_t>(j)] = combine(lanes[static_cast<size_t>(j)], term(i + j));
  for (int64_t j = 0; i + j < count; ++j)
    lanes[static_cast<size_t>(j)] = combine(lanes[static_cast<size_t>(j)], term(i + j));
  for (size_t width = Lanes / 2; width > 0; width /= 2)
    for (size_t k = 0; k < width; ++k) lanes[k] = combine(lanes[k], lanes[k + width]);
  return lanes[0];
}

template <class T, class F, class Combine>
T fold_lanes(int64_t count, T start, F term, Combine combine) {
  return count < 2 * kManyLanes ? fold<T, kLanes>(count, start, term, combine)
                                : fold<T, kManyLanes>(count, start, term, combine);
}

/// term(0) + ... + term(count - 1)
template <class T, class F>
T lane_sum(int64_t count, F term) {
  return fold_lanes<T>(count, T(0), term, [](T a, T b) { return a + b; });
}

/// The largest of term(0) ... term(count - 1), -infinity for none; NaN are passed over.
template <class T, class F>
T lane_max(int64_t count, F term) {
  return fold_lanes<T>(count, -std::numeric_limits<T>::infinity(), term,
                       [](T a, T b) { return b > a ? b : a; });
}

}  // namespace heed::internal
