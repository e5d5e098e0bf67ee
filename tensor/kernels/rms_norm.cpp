#include <heed/tensor/kernels/rms_norm.h>

#include <cmath>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

void check(const Tensor& x, const Tensor& weight, double epsilon) {
  if (x.rank() < 1 || weight.shape() != Shape{x.size(-1)})
    raise<ShapeError>("[rms_norm] wanted x (..., width) and weight (width), came {} and {}", x.shape(),
                      weight.shape());
  internal::expect_same_dtype("rms_norm", x, weight);
  if (!(epsilon >= 0)) raise<ValueError>("[rms_norm] wanted an epsilon of 0 or more, came {}", epsilon);
}

/// Rows of a part whose weight gradients are added up before the parts are.
int64_t part_rows(int64_t width) { return std::max<int64_t>(32, internal::rows_per_chunk(width * 4)); }

template <class T>
T normalize_row(T* y, const T* x, const T* weight, int64_t width, T epsilon) {
  const T squares = internal::lane_sum<T>(width, [=](int64_t i) { return x[i] * x[i]; });
  const T scale = T(1) / std::sqrt(squares / static_cast<T>(width) + epsilon);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) y[i] = x[i] * scale * weight[i];
  return scale;
}

/// dx_i = scale * (g_i w_i - n_i mean(g w n)) with n = x * scale
template <class T>
void backward_row(T* dx, T* dweight, const T* g, const T* x, const T* weight, int64_t width, T scale) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    dweight[i] += g[i] * x[i] * scale;
    dx[i] = g[i] * weight[i];
  }
  const T dot = internal::lane_sum<T>(width, [=](int64_t i) { return dx[i] * x[i]; });
  const T mean_dot = dot * scale * scale / static_cast<T>(width);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) dx[i] = scale * (dx[i] - x[i] * mean_dot);
}

}  // namespace

RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  check(x, weight, epsilon);
  const int64_t width = x.size(-1), rows = width == 0 ? 0 : x.numel() / width;
  const Tensor in = x.contiguous(), w = weight.contiguous();
  RmsNorm result{Tensor::empty(x.shape(), x.dtype()), Tensor::empty({rows}, x.dtype())};
  internal::dispatch_floating("rms_norm", x, [&]<class T>(T) {
    const T *from = in.data<T>(), *factor = w.data<T>();
    T *y = result.y.mutable_data<T>(), *scale = result.scale.mutable_data<T>();
    internal::parallel_chunks(rows, internal::rows_per_chunk(width * 4), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        scale[row] =
            normalize_row(y + row * width, from + row * width, factor, width, static_cast<T>(epsilon));
    });
  });
  return result;
}

RmsNormGrads rms_norm_backward(const Tensor& grad, const Tensor& x, const Tensor& weight,
                               const Tensor& scale) {
  const int64_t width = x.size(-1), rows = scale.numel();
  const Tensor g = grad.contiguous(), in = x.contiguous(), w = weight.contiguous();
  RmsNormGrads grads{Tensor::empty(x.shape(), x.dtype()), zeros({width}, x.dtype())};
  const int64_t chunk = part_rows(width), parts = (rows + chunk - 1) / chunk;
  internal::dispatch_floating("rms_norm_backward", x, [&]<class T>(T) {
    // (parts, width): each part of the rows adds up its own, then the parts are added in order
    std::vector<T> partial(static_cast<size_t>(parts * width), T(0));
    T* dx = grads.x.mutable_data<T>();
    const T *upstream = g.data<T>(), *from = in.data<T>(), *factor = w.data<T>(), *scales = scale.data<T>();
    internal::parallel_chunks(rows, chunk, [&](int64_t begin, int64_t end) {
      T* dweight = partial.data() + begin / chunk * width;
      for (int64_t row = begin; row < end; ++row)
        backward_row(dx + row * width, dweight, upstream + row * width, from + row * width, factor, width,
                     scales[row]);
    });
    T* dweight = grads.weight.mutable_data<T>();
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = 0; i < width; ++i) dweight[i] += partial[static_cast<size_t>(part * width + i)];
  });
  return grads;
}

}  // namespace heed::kernels
