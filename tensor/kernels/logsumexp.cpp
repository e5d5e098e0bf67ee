#include <heed/tensor/kernels/logsumexp.h>

#include <cmath>
#include <limits>
#include <vector>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/reduce_blocks.h>
#include <heed/tensor/internal/strided.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

/// out[i] = g exp(x[i] - y): one run of x, whose elements have places of their own in g and y or share one.
template <class T>
void slope_run(T* out, const T* x, const T* g, int64_t g_step, const T* y, int64_t y_step, int64_t count) {
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  if (g_step == 0 && y_step == 0) {
    const T slope = *g, shift = *y == kNothing ? T(0) : *y;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = slope * internal::fast_exp(x[i] - shift);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T total = y[i * y_step], shift = total == kNothing ? T(0) : total;
    out[i] = g[i * g_step] * internal::fast_exp(x[i] - shift);
  }
}

}  // namespace

Tensor logsumexp(const Tensor& x, const Dims& axes, bool keep_axes) {
  Tensor out = Tensor::empty(reduced_shape("logsumexp", x.shape(), axes, keep_axes), x.dtype());
  internal::dispatch_floating("logsumexp", x, [&]<class T>(T) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const internal::Blocks blocks = internal::arrange(x, axes);
    T* all = out.mutable_data<T>();
    std::vector<T> sums(static_cast<size_t>(out.numel()));
    T* all_sums = sums.data();
    internal::for_each_block(
        blocks.values.data<T>(), blocks, [=](const internal::Block<T>& block, int64_t place) {
          T* y = all + place;
          internal::fold_block(y, block, -kInfinity, [](T a, T b) { return b > a ? b : a; });
          // An infinite largest element taken off would leave NaN; exp of what is left in place is 0 or
          // infinity.
          for (int64_t i = 0; i < block.inner; ++i) y[i] = std::isinf(y[i]) ? T(0) : y[i];
          internal::sum_block<T, double>(
              block, [=](T value, int64_t i) { return internal::fast_exp(value - y[i]); },
              [=](int64_t i, double total) { all_sums[place + i] = static_cast<T>(total); });
        });
#pragma omp simd
    for (int64_t i = 0; i < out.numel(); ++i) all[i] += internal::fast_log(all_sums[i]);
  });
  return out;
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& x, const Tensor& y) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  if (out.numel() == 0) return out;
  const Tensor values = x.contiguous();
  internal::dispatch_floating("logsumexp_backward", x, [&]<class T>(T) {
    const auto pass = internal::make_pass<4>({&out, &values, &grad, &y});
    T* to = out.mutable_data<T>();
    const T *from = values.data<T>(), *slopes = grad.data<T>(), *totals = y.data<T>();
    internal::for_each_run(pass, internal::kFunctionChunk, [=, &pass](const auto& at, int64_t count) {
      slope_run(to + at[0], from + at[1], slopes + at[2], pass.inner_stride(2), totals + at[3],
                pass.inner_stride(3), count);
    });
  });
  return out;
}

}  // namespace heed::kernels
