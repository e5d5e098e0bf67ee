#include <heed/tensor/kernels/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <heed/tensor/internal/columns.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/mask_rows.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/stream.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

/// Softmax of the first `count` of `keys` scores, zeros beyond and for a row that sees nothing; `out` may be
/// `row`. Returns log(sum(exp(score))), -infinity for such a row.
template <class T>
T softmax_row(T* out, const T* row, int64_t count, int64_t keys) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  // Whole vectors where there is room: a choice by index is cheaper than a loop over what is left.
  const int64_t run = std::min(internal::whole_lanes(count), keys);
  const auto score = [=](int64_t k) { return k < count ? row[k] : kHidden; };
  const T top = run == count ? internal::lane_max<T>(count, [=](int64_t k) { return row[k]; })
                             : internal::lane_max<T>(run, score);
  if (top == kHidden && std::none_of(row, row + count, [](T s) { return s != s; })) {
    std::fill_n(out, keys, T(0));
    return top;
  }
  // Block by block, so that a long row is added up in parts and the memory after it (the next row, as a rule)
  // is read ahead.
  constexpr int64_t kBlock = 256;
  T total = 0;
  for (int64_t begin = 0; begin < run; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, run);
    if (run > kBlock) internal::prefetch(row + keys + begin, end - begin);
    const auto raise = [=](int64_t i) { return out[begin + i] = internal::fast_exp(row[begin + i] - top); };
    const auto raise_seen = [=](int64_t i) {
      const T raised = internal::fast_exp(row[begin + i] - top);
      return out[begin + i] = begin + i < count ? raised : T(0);
    };
    total += end <= count ? internal::lane_sum<T>(end - begin, raise)
                          : internal::lane_sum<T>(end - begin, raise_seen);
  }
  const T scale = T(1) / total;
#pragma omp simd
  for (int64_t k = 0; k < run; ++k) out[k] *= scale;
  std::fill(out + run, out + keys, T(0));
  return top + std::log(total);
}

/// f(out_row, a_row, b_row, count) for every row of contiguous tensors of one shape.
template <class F>
void for_each_row(const char* op, Tensor& out, const Tensor& a, const Tensor& b, F f) {
  internal::dispatch_floating(op, a, [&]<class T>(T) {
    if (out.numel() == 0) return;
    const int64_t count = out.size(-1);
    const T *x = a.data<T>(), *y = b.data<T>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(out.numel() / count, internal::rows_per_chunk(count * 4),
                              [&](int64_t begin, int64_t end) {
                                for (int64_t row = begin; row < end; ++row)
                                  f(to + row * count, x + row * count, y + row * count, count);
                              });
  });
}

/// Along `axis`, a and b being of one shape and perhaps the same tensor: rows(out, a, b, count) for each row
/// of the last axis, columns(a, b) for a table of columns of another one.
template <class Rows, class Columns>
Tensor along(const char* op, const Tensor& a, const Tensor& b, int64_t axis, Tensor* into, Rows rows,
             Columns columns) {
  axis = normalize_axis(op, axis, a.rank());
  internal::expect_same_dtype(op, a, b);
  if (a.shape() != b.shape())
    raise<ShapeError>("[{}] wanted one shape, came {} and {}", op, a.shape(), b.shape());
  return internal::fill_result(
      op, into, a.shape(), a.dtype(), internal::Writes::contiguous, {&a, &b}, [&](Tensor& out) {
        const Tensor left = a.contiguous(), right = b.contiguous();
        if (axis == a.rank() - 1) return for_each_row(op, out, left, right, rows);
        if (out.numel() == 0) return;
        internal::ColumnSizes sizes{1, a.size(axis), 1};
        for (int64_t i = 0; i < a.rank(); ++i)
          (i < axis ? sizes.outer : sizes.inner) *= i == axis ? 1 : a.size(i);
        internal::dispatch_floating(op, a, [&]<class T>(T) {
          internal::for_each_table(out.mutable_data<T>(), left.data<T>(), right.data<T>(), sizes, columns);
        });
      });
}

using internal::Table;

/// log(sum(exp(row)))
template <class T>
T log_sum_exp(const T* row, int64_t count) {
  const T top = internal::lane_max<T>(count, [=](int64_t i) { return row[i]; });
  if (std::isinf(top)) {
    const bool has_nan = top < 0 && std::any_of(row, row + count, [](T v) { return std::isnan(v); });
    return has_nan ? std::numeric_limits<T>::quiet_NaN() : top;
  }
  const T total = internal::lane_sum<T>(count, [=](int64_t i) { return internal::fast_exp(row[i] - top); });
  return top + std::log(total);
}

/// What a column's numbers are lowered by before exp is taken: their largest, but 0 in place of -infinity.
template <class T>
internal::TableRow<T> shifts_of(const Table<T>& x) {
  internal::TableRow<T> top = internal::largest_of(x);
  for (T& t : top) t = t == -std::numeric_limits<T>::infinity() ? T(0) : t;
  return top;
}

template <class T>
void softmax_columns(Table<T>& x) {
  const internal::TableRow<T> shift = shifts_of(x);
  auto scale = internal::sum_columns_of<T>(
      x.size(), [&](size_t row, size_t i) { return x[row][i] = internal::fast_exp(x[row][i] - shift[i]); });
  for (T& total : scale) total = total == 0 ? T(0) : T(1) / total;
  internal::map_table(x, [&](T raised, size_t, size_t i) { return raised * scale[i]; });
}

template <class T>
void log_softmax_columns(Table<T>& x) {
  internal::TableRow<T> shift = shifts_of(x);
  const auto total = internal::sum_columns_of<T>(
      x.size(), [&](size_t row, size_t i) { return internal::fast_exp(x[row][i] - shift[i]); });
  for (size_t i = 0; i < total.size(); ++i)
    if (!std::isinf(shift[i])) shift[i] += total[i] == 0 ? T(0) : std::log(total[i]);
  internal::map_table(x, [&](T value, size_t, size_t i) { return value - shift[i]; });
}

/// The slope of a softmax whose place has weight p; where p is 0 the rest may be NaN.
template <class T>
T weighted_slope(T p, T g, T dot) {
  return p == 0 ? T(0) : p * (g - dot);
}

template <class T>
void softmax_backward_row(T* out, const T* g, const T* p, int64_t count) {
  const T dot = internal::lane_sum<T>(count, [=](int64_t i) { return g[i] * p[i]; });
  if (!std::isfinite(dot)) {
    const T seen = internal::lane_sum<T>(count, [=](int64_t i) { return p[i] == 0 ? T(0) : g[i] * p[i]; });
    for (int64_t i = 0; i < count; ++i) out[i] = weighted_slope(p[i], g[i], seen);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = p[i] * (g[i] - dot);
}

template <class T>
void softmax_backward_columns(Table<T>& g, const Table<T>& p) {
  const auto dot = internal::sum_columns_of<T>(
      g.size(), [&](size_t row, size_t i) { return p[row][i] == 0 ? T(0) : g[row][i] * p[row][i]; });
  internal::map_table(
      g, [&](T slope, size_t row, size_t i) { return weighted_slope(p[row][i], slope, dot[i]); });
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis, Tensor* into) {
  return along(
      "softmax", x, x, axis, into,
      []<class T>(T* out, const T* row, const T*, int64_t count) { softmax_row(out, row, count, count); },
      []<class T>(Table<T>& columns) { softmax_columns(columns); });
}

Tensor softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into) {
  return along(
      "softmax_backward", grad, y, axis, into,
      []<class T>(T* out, const T* g, const T* p, int64_t count) { softmax_backward_row(out, g, p, count); },
      []<class T>(Table<T>& g, const Table<T>& p) { softmax_backward_columns(g, p); });
}

Tensor log_softmax(const Tensor& x, int64_t axis, Tensor* into) {
  return along(
      "log_softmax", x, x, axis, into,
      []<class T>(T* out, const T* row, const T*, int64_t count) {
        const T total = log_sum_exp(row, count);
        const T shift = total == -std::numeric_limits<T>::infinity() ? T(0) : total;
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) out[i] = row[i] - shift;
      },
      []<class T>(Table<T>& columns) { log_softmax_columns(columns); });
}

Tensor log_softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into) {
  return along(
      "log_softmax_backward", grad, y, axis, into,
      []<class T>(T* out, const T* g, const T* l, int64_t count) {
        const T total = internal::lane_sum<T>(count, [=](int64_t i) { return g[i]; });
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) out[i] = g[i] - internal::fast_exp(l[i]) * total;
      },
      []<class T>(Table<T>& g, const Table<T>& l) {
        const auto total =
            internal::sum_columns_of<T>(g.size(), [&](size_t row, size_t i) { return g[row][i]; });
        internal::map_table(g, [&](T slope, size_t row, size_t i) {
          return slope - internal::fast_exp(l[row][i]) * total[i];
        });
      });
}

Tensor masked_softmax(const Tensor& scores, const Mask& mask, Tensor* into) {
  if (scores.rank() != 3 && scores.rank() != 4)
    raise<ShapeError>(
        "[masked_softmax] wanted (batch, queries, keys) or (batch, heads, queries, keys), came {}",
        scores.shape());
  const int64_t batch = scores.size(0), heads = scores.rank() == 4 ? scores.size(1) : 1;
  const int64_t queries = scores.size(-2), keys = scores.size(-1);
  const auto fill = [&]<class T>(Tensor& out, T) {
    const internal::MaskRows<T> rows("masked_softmax", mask, batch, heads, queries, keys);
    const Tensor from = scores.contiguous();
    const T* in = from.data<T>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(
        batch * heads * queries, internal::rows_per_chunk(keys * 4), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t q = row % queries, h = row / queries % heads, b = row / queries / heads;
            const T* seen = in + row * keys;
            T* line = to + row * keys;
            if (rows.edits() && line != seen) std::copy_n(seen, keys, line);
            const int64_t count = rows.apply(line, b, h, q);
            const T total = softmax_row(line, rows.edits() ? line : seen, count, keys);
            if (std::isnan(total)) rows.clear_hidden(line, b, h, q);
          }
        });
  };
  return internal::fill_result(
      "masked_softmax", into, scores.shape(), scores.dtype(), internal::Writes::contiguous,
      {&scores, &mask.keep, &mask.bias, &mask.lengths}, [&](Tensor& out) {
        internal::dispatch_floating("masked_softmax", scores, [&]<class T>(T type) { fill(out, type); });
      });
}

}  // namespace heed::kernels
