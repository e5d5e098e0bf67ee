#include <heed/tensor/kernels/gru_cell.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

void check(const Tensor& gx, const Tensor& gh, const Tensor& h) {
  internal::expect_same_dtype("gru_cell", gx, gh);
  internal::expect_same_dtype("gru_cell", gx, h);
  const bool fits =
      h.rank() == 2 && gx.shape() == gh.shape() && gx.shape() == Shape{h.size(0), 3 * h.size(1)};
  if (!fits)
    raise<ShapeError>("[gru_cell] wanted gx and gh (batch, 3 hidden) and h (batch, hidden), came {}, {}, {}",
                      gx.shape(), gh.shape(), h.shape());
}

/// Rows as they are when each is contiguous, as in a step of a sequence; else a copy.
Tensor with_contiguous_rows(const Tensor& x) {
  return x.size(1) <= 1 || x.strides()[1] == 1 ? x : x.contiguous();
}

template <class T>
void step_row(T* out, T* gates, const T* gx, const T* gh, const T* h, int64_t hidden) {
#pragma omp simd
  for (int64_t i = 0; i < hidden; ++i) {
    const T r = internal::fast_sigmoid(gx[i] + gh[i]);
    const T z = internal::fast_sigmoid(gx[hidden + i] + gh[hidden + i]);
    const T n = internal::fast_tanh(gx[2 * hidden + i] + r * gh[2 * hidden + i]);
    gates[i] = r;
    gates[hidden + i] = z;
    gates[2 * hidden + i] = n;
    out[i] = n + z * (h[i] - n);
  }
}

template <class T>
void step_row_backward(T* dgx, T* dgh, T* dh, const T* g, const T* gates, const T* gh, const T* h,
                       int64_t hidden) {
#pragma omp simd
  for (int64_t i = 0; i < hidden; ++i) {
    const T r = gates[i], z = gates[hidden + i], n = gates[2 * hidden + i];
    const T before_tanh = g[i] * (1 - z) * (1 - n * n);
    const T before_z = g[i] * (h[i] - n) * z * (1 - z);
    const T before_r = before_tanh * gh[2 * hidden + i] * r * (1 - r);
    dgx[i] = dgh[i] = before_r;
    dgx[hidden + i] = dgh[hidden + i] = before_z;
    dgx[2 * hidden + i] = before_tanh;
    dgh[2 * hidden + i] = before_tanh * r;
    dh[i] = g[i] * z;
  }
}

}  // namespace

GruCell gru_cell(const Tensor& gx, const Tensor& gh, const Tensor& h) {
  check(gx, gh, h);
  const int64_t batch = h.size(0), hidden = h.size(1);
  const Tensor x = with_contiguous_rows(gx), y = with_contiguous_rows(gh), state = with_contiguous_rows(h);
  GruCell result{Tensor::empty(h.shape(), h.dtype()), Tensor::empty({batch, 3 * hidden}, h.dtype())};
  internal::dispatch_floating("gru_cell", h, [&]<class T>(T) {
    T *out = result.h.mutable_data<T>(), *gates = result.gates.mutable_data<T>();
    const T *px = x.data<T>(), *ph = y.data<T>(), *before = state.data<T>();
    internal::parallel_chunks(batch, internal::rows_per_chunk(hidden * 12), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        step_row(out + b * hidden, gates + b * 3 * hidden, px + b * x.strides()[0], ph + b * y.strides()[0],
                 before + b * state.strides()[0], hidden);
    });
  });
  return result;
}

GruCellGrads gru_cell_backward(const Tensor& grad, const Tensor& gh, const Tensor& h, const Tensor& gates) {
  const int64_t batch = h.size(0), hidden = h.size(1);
  const Tensor g = with_contiguous_rows(grad), y = with_contiguous_rows(gh), state = with_contiguous_rows(h);
  GruCellGrads grads{Tensor::empty(gates.shape(), h.dtype()), Tensor::empty(gates.shape(), h.dtype()),
                     Tensor::empty(h.shape(), h.dtype())};
  internal::dispatch_floating("gru_cell_backward", h, [&]<class T>(T) {
    T *dgx = grads.gx.mutable_data<T>(), *dgh = grads.gh.mutable_data<T>(), *dh = grads.h.mutable_data<T>();
    const T *upstream = g.data<T>(), *ph = y.data<T>(), *before = state.data<T>(), *saved = gates.data<T>();
    internal::parallel_chunks(batch, internal::rows_per_chunk(hidden * 12), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        step_row_backward(dgx + b * 3 * hidden, dgh + b * 3 * hidden, dh + b * hidden,
                          upstream + b * g.strides()[0], saved + b * 3 * hidden, ph + b * y.strides()[0],
                          before + b * state.strides()[0], hidden);
    });
  });
  return grads;
}

}  // namespace heed::kernels
