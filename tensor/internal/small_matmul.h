#pragma once

#include <algorithm>
#include <cstdint>

/// Products of matrices that fit in the cache, as attention needs them by the thousand, one per head. A
/// library call costs more than the work there.
namespace heed::internal {

/// c (rows, columns) = or += a (rows, inner) b (inner, columns). a may have any strides, rows of b and c
/// are contiguous and `b_row`, `c_row` apart.
template <class T>
struct SmallMatmul {
  int64_t rows, columns, inner;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row;
  bool accumulate = false;
};

/// Rows of a tile, so that its sums, 32 columns of them, stay in the vector registers.
#ifdef __AVX512F__
template <class T>
inline constexpr int kTileRows = sizeof(T) == 4 ? 8 : 4;
#else
template <class T>
inline constexpr int kTileRows = 4;
#endif

/// One tile of kRows x kColumns sums held in registers while the inner axis goes by.
template <int kRows, int kColumns, class T>
void multiply_tile(const SmallMatmul<T>& m, int64_t row, int64_t column) {
  T sums[kRows][kColumns];
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < kColumns; ++j)
      sums[r][j] = m.accumulate ? m.c[(row + r) * m.c_row + column + j] : T(0);
  for (int64_t i = 0; i < m.inner; ++i) {
    const T* b = m.b + i * m.b_row + column;
    for (int r = 0; r < kRows; ++r) {
      const T a = m.a[(row + r) * m.a_row + i * m.a_column];
#pragma omp simd
      for (int j = 0; j < kColumns; ++j) sums[r][j] += a * b[j];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < kColumns; ++j) m.c[(row + r) * m.c_row + column + j] = sums[r][j];
}

/// What is left at the right edge, of any width.
template <class T>
void multiply_edge(const SmallMatmul<T>& m, int64_t row, int64_t rows, int64_t column) {
  const int64_t count = m.columns - column;
  for (int64_t r = row; r < row + rows; ++r) {
    T* c = m.c + r * m.c_row + column;
    if (!m.accumulate) std::fill_n(c, count, T(0));
    for (int64_t i = 0; i < m.inner; ++i) {
      const T a = m.a[r * m.a_row + i * m.a_column];
      const T* b = m.b + i * m.b_row + column;
#pragma omp simd
      for (int64_t j = 0; j < count; ++j) c[j] += a * b[j];
    }
  }
}

template <int kRows, class T>
void multiply_strip(const SmallMatmul<T>& m, int64_t row) {
  int64_t column = 0;
  for (; column + 32 <= m.columns; column += 32) multiply_tile<kRows, 32>(m, row, column);
  if (column + 16 <= m.columns) multiply_tile<kRows, 16>(m, row, column), column += 16;
  if (column + 8 <= m.columns) multiply_tile<kRows, 8>(m, row, column), column += 8;
  if (column < m.columns) multiply_edge(m, row, kRows, column);
}

template <class T>
void small_matmul(const SmallMatmul<T>& m) {
  int64_t row = 0;
  for (; row + kTileRows<T> <= m.rows; row += kTileRows<T>) multiply_strip<kTileRows<T>>(m, row);
  for (; row + 4 <= m.rows; row += 4) multiply_strip<4>(m, row);
  if (row + 2 <= m.rows) multiply_strip<2>(m, row), row += 2;
  if (row < m.rows) multiply_strip<1>(m, row);
}

/// The same product, but where a is exactly 0 it takes nothing from b, be it NaN or infinite.
template <class T>
void skipping_matmul(const SmallMatmul<T>& m) {
  for (int64_t r = 0; r < m.rows; ++r) {
    T* c = m.c + r * m.c_row;
    if (!m.accumulate) std::fill_n(c, m.columns, T(0));
    for (int64_t i = 0; i < m.inner; ++i) {
      const T a = m.a[r * m.a_row + i * m.a_column];
      if (a == 0) continue;
      const T* b = m.b + i * m.b_row;
#pragma omp simd
      for (int64_t j = 0; j < m.columns; ++j) c[j] += a * b[j];
    }
  }
}

}  // namespace heed::internal
