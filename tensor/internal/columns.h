#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include <heed/tensor/internal/parallel.h>

/// Loops down columns, (outer, count, inner) being reduced along the middle. Some columns at a time are
/// copied to a table of their own: neighbours in memory are there what lies far apart in the tensor, and
/// every loop over a row of it is whole vectors.
namespace heed::internal {

/// Columns of a table, four of the widest vectors.
inline constexpr int64_t kTableWidth = 64;

/// A number for each column of a table: one of its rows, or what a column is reduced to.
template <class T>
using TableRow = std::array<T, kTableWidth>;

/// A table of columns: its rows.
template <class T>
using Table = std::vector<TableRow<T>>;

struct ColumnSizes {
  int64_t outer, count, inner;
  int64_t columns() const { return outer * inner; }
};

/// f(offset, place, width) for the runs of neighbours among the columns [first, last): where their first row
/// starts in the tensor and in the table's rows, and how many they are.
template <class F>
void for_each_column_run(const ColumnSizes& s, int64_t first, int64_t last, F f) {
  for (int64_t column = first; column < last;) {
    const int64_t block = column / s.inner, within = column % s.inner;
    const int64_t width = std::min(s.inner - within, last - column);
    f(block * s.count * s.inner + within, column - first, width);
    column += width;
  }
}

template <class T>
void load_columns(Table<T>& table, const T* x, const ColumnSizes& s, int64_t first, int64_t last) {
  for_each_column_run(s, first, last, [&](int64_t offset, int64_t place, int64_t width) {
    for (int64_t row = 0; row < s.count; ++row)
      std::copy_n(x + offset + row * s.inner, width, table[static_cast<size_t>(row)].data() + place);
  });
}

template <class T>
void store_columns(T* x, const Table<T>& table, const ColumnSizes& s, int64_t first, int64_t last) {
  for_each_column_run(s, first, last, [&](int64_t offset, int64_t place, int64_t width) {
    for (int64_t row = 0; row < s.count; ++row)
      std::copy_n(table[static_cast<size_t>(row)].data() + place, width, x + offset + row * s.inner);
  });
}

/// f(x), or f(x, y), turns the table of x's columns into that of out's, in place, with y's beside it. `out`
/// may be x or y.
template <class T, class F>
void for_each_table(T* out, const T* x, const T* y, const ColumnSizes& s, F f) {
  constexpr bool kTakesBoth = std::is_invocable_v<F, Table<T>&, const Table<T>&>;
  const int64_t tables = (s.columns() + kTableWidth - 1) / kTableWidth;
  parallel_chunks(tables, rows_per_chunk(s.count * kTableWidth * 4), [&](int64_t begin, int64_t end) {
    Table<T> left(static_cast<size_t>(s.count)), right(kTakesBoth ? left.size() : 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kTableWidth, last = std::min(first + kTableWidth, s.columns());
      load_columns(left, x, s, first, last);
      if constexpr (kTakesBoth) {
        load_columns(right, y, s, first, last);
        f(left, right);
      } else {
        f(left);
      }
      store_columns(out, left, s, first, last);
    }
  });
}

/// term(row, column) added up down each column, in blocks of rows.
template <class T, class Term>
TableRow<T> sum_columns_of(size_t count, Term term) {
  constexpr size_t kRows = 64;
  TableRow<T> total{};
  for (size_t begin = 0; begin < count; begin += kRows) {
    TableRow<T> part{};
    for (size_t row = begin; row < std::min(count, begin + kRows); ++row) {
#pragma omp simd
      for (size_t i = 0; i < kTableWidth; ++i) part[i] += term(row, i);
    }
#pragma omp simd
    for (size_t i = 0; i < kTableWidth; ++i) total[i] += part[i];
  }
  return total;
}

/// The largest number of each column, -infinity for none; NaN are passed over.
template <class T>
TableRow<T> largest_of(const Table<T>& table) {
  TableRow<T> top;
  top.fill(-std::numeric_limits<T>::infinity());
  for (const TableRow<T>& row : table) {
#pragma omp simd
    for (size_t i = 0; i < kTableWidth; ++i) top[i] = row[i] > top[i] ? row[i] : top[i];
  }
  return top;
}

/// row[i] = f(row[i], row, i) for all of a table, in place.
template <class T, class F>
void map_table(Table<T>& table, F f) {
  for (size_t row = 0; row < table.size(); ++row) {
    TableRow<T>& line = table[row];
#pragma omp simd
    for (size_t i = 0; i < kTableWidth; ++i) line[i] = f(line[i], row, i);
  }
}

}  // namespace heed::internal
