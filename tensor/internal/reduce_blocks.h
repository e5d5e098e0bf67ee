#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/reduce_axes.h>

/// Loops of the reductions. A block is (count, inner), and each of its columns becomes one value.
namespace heed::internal {

/// Rows of a block, and elements of a lone column, that are added in their own type before the sum goes on in
/// the type of the total.
inline constexpr int64_t kSumRows = 64;
inline constexpr int64_t kSumRun = 512;
/// Columns whose sums fit in the nearest cache.
inline constexpr int64_t kSumColumns = 1024;

template <class T>
struct Block {
  const T* values;
  int64_t count, inner;
  int64_t part;  ///< rows that one thread takes at a time
};

/// f(block, place) for each block, whose first value belongs at `place` of the result. Several blocks are
/// shared out among the threads as they are; a lone one is cut into parts.
template <class T, class F>
void for_each_block(const T* values, const Blocks& b, F f) {
  if (b.inner == 0) return;
  if (b.outer == 1) {
    f(Block<T>{values, b.count, b.inner, std::max(kSumRows, rows_per_chunk(b.inner))}, 0);
    return;
  }
  parallel_chunks(b.outer, rows_per_chunk(b.count * b.inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      f(Block<T>{values + o * b.count * b.inner, b.count, b.inner, b.count}, o * b.inner);
  });
}

/// rows(values, count, store) finds the values of some rows and hands each over as store(column, value);
/// those of the parts are joined in their order, and the last word goes to `store`.
template <class Value, class T, class Rows, class Join, class Store>
void reduce_parts(const Block<T>& b, Rows rows, Join join, Store store) {
  if (b.count <= b.part) {
    rows(b.values, b.count, store);
    return;
  }
  const int64_t parts = (b.count + b.part - 1) / b.part;
  std::vector<Value> found(static_cast<size_t>(parts * b.inner));
  parallel_chunks(b.count, b.part, [&](int64_t begin, int64_t end) {
    Value* to = found.data() + begin / b.part * b.inner;
    rows(b.values + begin * b.inner, end - begin, [=](int64_t i, Value value) { to[i] = value; });
  });
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < b.inner; ++i) {
      Value& value = found[static_cast<size_t>(i)];
      value = join(value, found[static_cast<size_t>(part * b.inner + i)]);
    }
  for (int64_t i = 0; i < b.inner; ++i) store(i, found[static_cast<size_t>(i)]);
}

/// store(0, sum of term(x[i], 0)) for a lone column x: (count)
template <class Part, class Total, class T, class Term, class Store>
void sum_run(const T* x, int64_t count, Term term, Store store) {
  Total total = 0;
  for (int64_t begin = 0; begin < count; begin += kSumRun)
    total += static_cast<Total>(
        lane_sum<Part>(std::min(count - begin, kSumRun), [=](int64_t i) { return term(x[begin + i], 0); }));
  store(0, total);
}

/// store(i, sum over rows of term(x[row, i], i)) for x: (count, inner)
template <class Part, class Total, class T, class Term, class Store>
void sum_columns(const T* x, int64_t count, int64_t inner, Term term, Store store) {
  std::array<Part, kSumColumns> part;
  std::array<Total, kSumColumns> total;
  for (int64_t left = 0; left < inner; left += kSumColumns) {
    const int64_t width = std::min(inner - left, kSumColumns);
    std::fill_n(total.begin(), width, Total(0));
    for (int64_t begin = 0; begin < count; begin += kSumRows) {
      std::fill_n(part.begin(), width, Part(0));
      for (int64_t row = begin; row < std::min(count, begin + kSumRows); ++row) {
        const T* line = x + row * inner + left;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i) part[static_cast<size_t>(i)] += term(line[i], left + i);
      }
      for (size_t i = 0; i < static_cast<size_t>(width); ++i) total[i] += static_cast<Total>(part[i]);
    }
    for (int64_t i = 0; i < width; ++i) store(left + i, total[static_cast<size_t>(i)]);
  }
}

/// store(i, sum of term(element, i) down column i). Short runs are added up as Part, and these as Total.
template <class Part, class Total, class T, class Term, class Store>
void sum_block(const Block<T>& b, Term term, Store store) {
  const auto rows = [&](const T* x, int64_t count, auto keep) {
    if (b.inner == 1)
      sum_run<Part, Total>(x, count, term, keep);
    else
      sum_columns<Part, Total>(x, count, b.inner, term, keep);
  };
  reduce_parts<Total>(
      b, rows, [](Total sum, Total more) { return sum + more; }, store);
}

/// out[i] = combine(... combine(first, element) ...) down column i; the order must not matter to `combine`.
template <class T, class Combine>
void fold_block(T* out, const Block<T>& b, T first, Combine combine) {
  const auto rows = [&](const T* x, int64_t count, auto keep) {
    if (b.inner == 1) {
      keep(0, lane_fold(count, first, combine, [=](int64_t i) { return x[i]; }));
      return;
    }
    std::array<T, kSumColumns> best;
    for (int64_t left = 0; left < b.inner; left += kSumColumns) {
      const int64_t width = std::min(b.inner - left, kSumColumns);
      std::fill_n(best.begin(), width, first);
      for (int64_t row = 0; row < count; ++row) {
        const T* line = x + row * b.inner + left;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i)
          best[static_cast<size_t>(i)] = combine(best[static_cast<size_t>(i)], line[i]);
      }
      for (int64_t i = 0; i < width; ++i) keep(left + i, best[static_cast<size_t>(i)]);
    }
  };
  reduce_parts<T>(b, rows, combine, [=](int64_t i, T value) { out[i] = value; });
}

}  // namespace heed::internal
