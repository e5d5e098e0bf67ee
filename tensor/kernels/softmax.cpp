#include <heed/tensor/kernels/softmax.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/mask_rows.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

/// Runs f(out_row, a_row, b_row, count) over the rows along `axis`; a and b may be the same tensor.
template <class F>
Tensor by_rows(const char* op, const Tensor& a, const Tensor& b, int64_t axis, F f) {
  axis = normalize_axis(op, axis, a.rank());
  internal::expect_same_dtype(op, a, b);
  if (a.shape() != b.shape())
    raise<ShapeError>("[{}] wanted one shape, came {} and {}", op, a.shape(), b.shape());
  // rows along `axis` become contiguous; the result is seen through the same transposition
  const Tensor left = a.transpose(axis, -1).contiguous(), right = b.transpose(axis, -1).contiguous();
  Tensor out = Tensor::empty(left.shape(), a.dtype());
  const int64_t count = left.size(-1);
  if (out.numel() > 0) {
    internal::dispatch_floating(op, a, [&]<class T>(T) {
      const T *x = left.data<T>(), *y = right.data<T>();
      T* to = out.mutable_data<T>();
      internal::parallel_chunks(out.numel() / count, internal::rows_per_chunk(count * 4),
                                [&](int64_t begin, int64_t end) {
                                  for (int64_t row = begin; row < end; ++row)
                                    f(to + row * count, x + row * count, y + row * count, count);
                                });
    });
  }
  return out.transpose(axis, -1);
}

/// log(sum(exp(row)))
template <class T>
T log_sum_exp(const T* row, int64_t count) {
  const T top = internal::lane_max<T>(count, [=](int64_t i) { return row[i]; });
  if (std::isinf(top)) return top;
  const T total = internal::lane_sum<T>(count, [=](int64_t i) { return internal::fast_exp(row[i] - top); });
  return top + std::log(total);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  return by_rows("softmax", x, x, axis, []<class T>(T* out, const T* row, const T*, int64_t count) {
    std::copy_n(row, count, out);
    internal::softmax_row(out, count, count);
  });
}

Tensor softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis) {
  return by_rows("softmax_backward", grad, y, axis,
                 []<class T>(T* out, const T* g, const T* p, int64_t count) {
                   const T dot = internal::lane_sum<T>(count, [=](int64_t i) { return g[i] * p[i]; });
#pragma omp simd
                   for (int64_t i = 0; i < count; ++i) out[i] = p[i] * (g[i] - dot);
                 });
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  return by_rows("log_softmax", x, x, axis, []<class T>(T* out, const T* row, const T*, int64_t count) {
    const T total = log_sum_exp(row, count);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = row[i] - total;
  });
}

Tensor log_softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis) {
  return by_rows("log_softmax_backward", grad, y, axis,
                 []<class T>(T* out, const T* g, const T* l, int64_t count) {
                   const T total = internal::lane_sum<T>(count, [=](int64_t i) { return g[i]; });
#pragma omp simd
                   for (int64_t i = 0; i < count; ++i) out[i] = g[i] - internal::fast_exp(l[i]) * total;
                 });
}

Tensor masked_softmax(const Tensor& scores, const Mask& mask) {
  if (scores.rank() != 3 && scores.rank() != 4)
    raise<ShapeError>(
        "[masked_softmax] wanted (batch, queries, keys) or (batch, heads, queries, keys), came {}",
        scores.shape());
  const int64_t batch = scores.size(0), heads = scores.rank() == 4 ? scores.size(1) : 1;
  const int64_t queries = scores.size(-2), keys = scores.size(-1);
  Tensor out = Tensor::empty(scores.shape(), scores.dtype());
  const Tensor from = scores.contiguous();
  internal::dispatch_floating("masked_softmax", scores, [&]<class T>(T) {
    const internal::MaskRows<T> rows("masked_softmax", mask, batch, heads, queries, keys);
    const T* in = from.data<T>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(
        batch * heads * queries, internal::rows_per_chunk(keys * 4), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t q = row % queries, h = row / queries % heads, b = row / queries / heads;
            T* line = to + row * keys;
            std::copy_n(in + row * keys, keys, line);
            internal::softmax_row(line, rows.apply(line, b, h, q), keys);
          }
        });
  });
  return out;
}

}  // namespace heed::kernels
