#include <heed/tensor/kernels/softmax.h>

#include <limits>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/mask_rows.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/result.h>

namespace heed::kernels {
namespace {

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

/// f over the rows along `axis`; a and b may be the same tensor.
template <class F>
Tensor by_rows(const char* op, const Tensor& a, const Tensor& b, int64_t axis, Tensor* into, F f) {
  axis = normalize_axis(op, axis, a.rank());
  internal::expect_same_dtype(op, a, b);
  if (a.shape() != b.shape())
    raise<ShapeError>("[{}] wanted one shape, came {} and {}", op, a.shape(), b.shape());
  return internal::fill_result(
      op, into, a.shape(), a.dtype(), internal::Writes::contiguous, {&a, &b}, [&](Tensor& out) {
        // rows along `axis` become contiguous
        const Tensor left = a.transpose(axis, -1).contiguous(), right = b.transpose(axis, -1).contiguous();
        if (axis == a.rank() - 1) return for_each_row(op, out, left, right, f);
        Tensor turned = Tensor::empty(left.shape(), a.dtype());
        for_each_row(op, turned, left, right, f);
        out.copy_from(turned.transpose(axis, -1));
      });
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

Tensor softmax(const Tensor& x, int64_t axis, Tensor* into) {
  return by_rows("softmax", x, x, axis, into, []<class T>(T* out, const T* row, const T*, int64_t count) {
    internal::softmax_row(out, row, count, count);
  });
}

Tensor softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into) {
  return by_rows("softmax_backward", grad, y, axis, into,
                 []<class T>(T* out, const T* g, const T* p, int64_t count) {
                   const T dot = internal::lane_sum<T>(count, [=](int64_t i) { return g[i] * p[i]; });
#pragma omp simd
                   for (int64_t i = 0; i < count; ++i) out[i] = p[i] * (g[i] - dot);
                 });
}

Tensor log_softmax(const Tensor& x, int64_t axis, Tensor* into) {
  return by_rows("log_softmax", x, x, axis, into, []<class T>(T* out, const T* row, const T*, int64_t count) {
    const T total = log_sum_exp(row, count);
    const T shift = total == -std::numeric_limits<T>::infinity() ? T(0) : total;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = row[i] - shift;
  });
}

Tensor log_softmax_backward(const Tensor& grad, const Tensor& y, int64_t axis, Tensor* into) {
  return by_rows("log_softmax_backward", grad, y, axis, into,
                 []<class T>(T* out, const T* g, const T* l, int64_t count) {
                   const T total = internal::lane_sum<T>(count, [=](int64_t i) { return g[i]; });
#pragma omp simd
                   for (int64_t i = 0; i < count; ++i) out[i] = g[i] - internal::fast_exp(l[i]) * total;
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
            internal::softmax_row(line, rows.edits() ? line : seen, count, keys);
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
