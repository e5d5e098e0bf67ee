#include <heed/tensor/kernels/layer_norm.h>

#include <cmath>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/stream.h>

namespace heed::kernels {
namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  if (x.rank() < 1 || weight.shape() != Shape{x.size(-1)} || bias.shape() != weight.shape())
    raise<ShapeError>("[layer_norm] wanted x (..., width) and weight and bias (width), came {}, {} and {}",
                      x.shape(), weight.shape(), bias.shape());
  internal::expect_same_dtype("layer_norm", x, weight);
  internal::expect_same_dtype("layer_norm", x, bias);
  if (!(epsilon >= 0)) raise<ValueError>("[layer_norm] wanted an epsilon of 0 or more, came {}", epsilon);
}

/// Rows of a part whose weight and bias gradients are added up before the parts are.
int64_t part_rows(int64_t width) { return std::max<int64_t>(32, internal::rows_per_chunk(width * 4)); }

template <class T>
void normalize_row(T* y, const T* x, const T* weight, const T* bias, int64_t width, T epsilon, T& mean,
                   T& deviation) {
  const T center = internal::lane_sum<T>(width, [=](int64_t i) { return x[i]; }) / static_cast<T>(width);
  const T squares =
      internal::lane_sum<T>(width, [=](int64_t i) { return (x[i] - center) * (x[i] - center); });
  const T scale = T(1) / std::sqrt(squares / static_cast<T>(width) + epsilon);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) y[i] = (x[i] - center) * scale * weight[i] + bias[i];
  mean = center;
  deviation = scale;
}

/// dx_i = deviation * (g_i w_i - mean(g w) - n_i mean(g w n)) with n the normalized x
template <class T>
void backward_row(T* dx, T* dweight, T* dbias, const T* g, const T* x, const T* weight, int64_t width, T mean,
                  T deviation) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    dweight[i] += g[i] * (x[i] - mean) * deviation;
    dbias[i] += g[i];
    dx[i] = g[i] * weight[i];
  }
  const T sum = internal::lane_sum<T>(width, [=](int64_t i) { return dx[i]; });
  const T dot = internal::lane_sum<T>(width, [=](int64_t i) { return dx[i] * (x[i] - mean); });
  const T mean_sum = sum / static_cast<T>(width),
          mean_dot = dot * deviation * deviation / static_cast<T>(width);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) dx[i] = deviation * (dx[i] - mean_sum - (x[i] - mean) * mean_dot);
}

}  // namespace

LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                     Tensor* into) {
  check(x, weight, bias, epsilon);
  const int64_t width = x.size(-1), rows = width == 0 ? 0 : x.numel() / width;
  const Tensor in = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  LayerNorm result{{}, Tensor::empty({rows}, x.dtype()), Tensor::empty({rows}, x.dtype())};
  const auto fill = [&]<class T>(Tensor& out, T) {
    const T *from = in.data<T>(), *scale = w.data<T>(), *shift = b.data<T>();
    T *y = out.mutable_data<T>(), *mean = result.mean.mutable_data<T>();
    T* deviation = result.deviation.mutable_data<T>();
    const bool streamed = internal::beyond_caches(out);
    internal::parallel_chunks(rows, internal::rows_per_chunk(width * 4), [&](int64_t begin, int64_t end) {
      std::vector<T> line(static_cast<size_t>(streamed ? width : 0));
      for (int64_t row = begin; row < end; ++row) {
        T* to = streamed ? line.data() : y + row * width;
        normalize_row(to, from + row * width, scale, shift, width, static_cast<T>(epsilon), mean[row],
                      deviation[row]);
        if (streamed) internal::stream(y + row * width, to, width);
      }
    });
  };
  result.y = internal::fill_result("layer_norm", into, x.shape(), x.dtype(), internal::Writes::contiguous,
                                   {&x, &weight, &bias}, [&](Tensor& out) {
                                     internal::dispatch_floating("layer_norm", x,
                                                                 [&]<class T>(T type) { fill(out, type); });
                                   });
  return result;
}

LayerNormGrads layer_norm_backward(const Tensor& grad, const Tensor& x, const Tensor& weight,
                                   const Tensor& mean, const Tensor& deviation) {
  const int64_t width = x.size(-1), rows = mean.numel();
  const Tensor g = grad.contiguous(), in = x.contiguous(), w = weight.contiguous();
  LayerNormGrads grads{Tensor::empty(x.shape(), x.dtype()), zeros({width}, x.dtype()),
                       zeros({width}, x.dtype())};
  const int64_t chunk = part_rows(width), parts = (rows + chunk - 1) / chunk;
  internal::dispatch_floating("layer_norm_backward", x, [&]<class T>(T) {
    // (parts, weight or bias, width): each part of the rows adds up its own, then the parts are added in
    // order
    std::vector<T> partial(static_cast<size_t>(parts * 2 * width), T(0));
    T* dx = grads.x.mutable_data<T>();
    const T *upstream = g.data<T>(), *from = in.data<T>(), *scale = w.data<T>();
    const T *center = mean.data<T>(), *spread = deviation.data<T>();
    internal::parallel_chunks(rows, chunk, [&](int64_t begin, int64_t end) {
      T* dweight = partial.data() + begin / chunk * 2 * width;
      for (int64_t row = begin; row < end; ++row)
        backward_row(dx + row * width, dweight, dweight + width, upstream + row * width, from + row * width,
                     scale, width, center[row], spread[row]);
    });
    T *dweight = grads.weight.mutable_data<T>(), *dbias = grads.bias.mutable_data<T>();
    for (int64_t part = 0; part < parts; ++part) {
      const T* sums = partial.data() + part * 2 * width;
      for (int64_t i = 0; i < width; ++i) dweight[i] += sums[i], dbias[i] += sums[width + i];
    }
  });
  return grads;
}

}  // namespace heed::kernels
