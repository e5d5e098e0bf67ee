#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/vector_math.h>

/// Loops over the rows of scores and weights that attention holds in scratch memory: a block of some queries,
/// each row whole lanes long.
namespace heed::internal {

/// Queries whose scores are in memory together.
inline constexpr int64_t kQueryBlock = 32;

/// How far each row of a block is seen, in whole lanes; zeros stand beyond.
using Runs = std::array<int64_t, kQueryBlock>;

/// x: (length, width) with rows `stride` apart -> (width, padded), zeros beyond the length. Some rows at a
/// time: the lines of all that are as far apart as wide heads have them would push one another out of the
/// cache.
template <class T>
void transpose_into(T* out, const T* x, int64_t length, int64_t width, int64_t stride, int64_t padded) {
  constexpr int64_t kRows = 32;
  for (int64_t first = 0; first < length; first += kRows) {
    const int64_t last = std::min(length, first + kRows);
    for (int64_t j = 0; j < width; ++j)
      for (int64_t i = first; i < last; ++i) out[j * padded + i] = x[i * stride + j];
  }
  for (int64_t j = 0; j < width; ++j) std::fill(out + j * padded + length, out + (j + 1) * padded, T(0));
}

/// Rows of `keys` numbers, `from_row` and `to_row` apart.
template <class T>
void copy_rows(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t keys) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from + i * from_row, keys, to + i * to_row);
}

template <class T>
void scale_all(T* x, int64_t count, T factor) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

/// Rows of weights or slopes times `factor` where `keep`, (rows, keys), is true, zeros elsewhere.
template <class T>
void drop(T* x, int64_t row, const bool* keep, int64_t rows, int64_t keys, T factor) {
  const auto* kept = reinterpret_cast<const uint8_t*>(keep);
  // a short one, because many rows would not fill a longer one
  constexpr int64_t kVector = 8;
  const int64_t whole = keys / kVector * kVector;
  for (int64_t i = 0; i < rows; ++i, x += row, kept += keys) {
    for (int64_t first = 0; first < whole; first += kVector)
#pragma omp simd
      for (int64_t j = first; j < first + kVector; ++j) x[j] = keep_or_zero(kept[j], x[j] * factor);
    for (int64_t j = whole; j < keys; ++j) x[j] = keep_or_zero_bits(kept[j], x[j] * factor);
  }
}

/// Zeros for the slopes that are not finite where the weight is exactly 0, as that of a hidden key: what such
/// a key holds must not reach the others through their common sum.
template <class T>
void clear_unweighted(T* slope, const T* weight, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (weight[i] == 0 && !std::isfinite(slope[i])) slope[i] = 0;
}

/// exp(line - shift), where a shift of -infinity says that the row sees nothing: zeros then.
template <class T>
void exp_row(T* line, int64_t run, T shift) {
  const T finite = shift == -std::numeric_limits<T>::infinity() ? T(0) : shift;
#pragma omp simd
  for (int64_t j = 0; j < run; ++j) line[j] = fast_exp(line[j] - finite);
}

/// Softmax of each row, and log(sum(exp(score))) of it. Each step goes through all rows before the next
/// begins: within a row each one waits for the one before, and for its stores.
template <class T>
void softmax_rows(T* block, int64_t row, const Runs& runs, int64_t rows, T* logsumexp) {
  std::array<T, kQueryBlock> top, total;
  const auto count = static_cast<size_t>(rows);
  const auto line = [=](size_t i) { return block + static_cast<int64_t>(i) * row; };
  for (size_t i = 0; i < count; ++i) top[i] = lane_max<T>(runs[i], [x = line(i)](int64_t j) { return x[j]; });
  for (size_t i = 0; i < count; ++i) exp_row(line(i), runs[i], top[i]);
  for (size_t i = 0; i < count; ++i)
    total[i] = lane_sum<T>(runs[i], [x = line(i)](int64_t j) { return x[j]; });
  for (size_t i = 0; i < count; ++i) scale_all(line(i), runs[i], total[i] == 0 ? T(0) : T(1) / total[i]);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) logsumexp[i] = top[i] + fast_log(total[i]);
}

}  // namespace heed::internal
