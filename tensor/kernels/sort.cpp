#include <heed/tensor/kernels/sort.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

/// a before b, with NaN above all numbers.
template <class T>
bool below(T a, T b) {
  return a < b || (b != b && a == a);
}

/// The first `kept` of each line in order. Lines lie along the last axis of `lines`.
template <class T>
void order_lines(const Tensor& lines, int64_t kept, bool descending, Sorted& out) {
  const int64_t length = lines.size(-1);
  const T* from = lines.data<T>();
  T* values = out.values.mutable_data<T>();
  int64_t* indices = out.indices.mutable_data<int64_t>();
  const int64_t count = length == 0 ? 0 : lines.numel() / length;
  internal::parallel_chunks(count, internal::rows_per_chunk(length * 16), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> order(static_cast<size_t>(length));
    for (int64_t line = begin; line < end; ++line) {
      const T* row = from + line * length;
      std::iota(order.begin(), order.end(), 0);
      const auto before = [&](int64_t i, int64_t j) {
        if (below(row[i], row[j]) != below(row[j], row[i]))
          return descending ? below(row[j], row[i]) : below(row[i], row[j]);
        return i < j;
      };
      if (kept == length)
        std::sort(order.begin(), order.end(), before);
      else
        std::partial_sort(order.begin(), order.begin() + kept, order.end(), before);
      for (int64_t i = 0; i < kept; ++i) {
        indices[line * kept + i] = order[static_cast<size_t>(i)];
        values[line * kept + i] = row[order[static_cast<size_t>(i)]];
      }
    }
  });
}

Sorted first_in_order(const char* op, const Tensor& x, int64_t axis, int64_t kept, bool descending) {
  const Tensor lines = x.transpose(axis, -1).contiguous();
  Shape shape = lines.shape();
  shape[shape.rank() - 1] = kept;
  Sorted out{Tensor::empty(shape, x.dtype()), Tensor::empty(shape, DType::i64)};
  internal::dispatch_numbers(op, x, [&]<class T>(T) { order_lines<T>(lines, kept, descending, out); });
  return {out.values.transpose(axis, -1), out.indices.transpose(axis, -1)};
}

/// Sums along each line, from its first element on (step 1) or from its last (step -1).
Tensor running_sum(const char* op, const Tensor& x, int64_t axis, int64_t step) {
  axis = normalize_axis(op, axis, x.rank());
  const Tensor lines = x.transpose(axis, -1).contiguous();
  Tensor out = Tensor::empty(lines.shape(), x.dtype());
  const int64_t length = lines.size(-1), count = length == 0 ? 0 : lines.numel() / length;
  internal::dispatch_numbers(op, x, [&]<class T>(T) {
    using Total = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, double>;
    const T* from = lines.data<T>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(count, internal::rows_per_chunk(length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        Total total = 0;
        int64_t place = line * length + (step > 0 ? 0 : length - 1);
        for (int64_t i = 0; i < length; ++i, place += step) {
          total += static_cast<Total>(from[place]);
          to[place] = static_cast<T>(total);
        }
      }
    });
  });
  return out.transpose(axis, -1);
}

}  // namespace

Sorted sort(const Tensor& x, int64_t axis, bool descending) {
  axis = normalize_axis("sort", axis, x.rank());
  return first_in_order("sort", x, axis, x.size(axis), descending);
}

Sorted top_k(const Tensor& x, int64_t axis, int64_t k) {
  axis = normalize_axis("top_k", axis, x.rank());
  if (k < 0 || k > x.size(axis))
    raise<ValueError>("[top_k] wanted k in [0, {}], the size of axis {} of {}, came {}", x.size(axis), axis,
                      x.shape(), k);
  return first_in_order("top_k", x, axis, k, true);
}

Tensor cumulative_sum(const Tensor& x, int64_t axis) { return running_sum("cumulative_sum", x, axis, 1); }

Tensor reversed_cumulative_sum(const Tensor& x, int64_t axis) {
  return running_sum("reversed_cumulative_sum", x, axis, -1);
}

}  // namespace heed::kernels
