#include <heed/tensor/kernels/cross_entropy.h>

#include <cmath>
#include <limits>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

void check(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  Shape rows = logits.shape();
  if (logits.rank() > 0) rows.erase(rows.rank() - 1);
  if (logits.rank() == 0 || targets.shape() != rows)
    raise<ShapeError>("[cross_entropy] wanted logits (..., classes) and targets (...), came {} and {}",
                      logits.shape(), targets.shape());
  if (targets.dtype() != DType::i64)
    raise<DTypeError>("[cross_entropy] wanted i64 targets, came {}", describe(targets));
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    raise<ValueError>("[cross_entropy] wanted label smoothing in [0, 1], came {}", options.label_smoothing);
  const int64_t classes = logits.size(-1);
  const Tensor all = targets.contiguous();
  for (int64_t target : all.span<int64_t>())
    if (target != options.ignore_index && (target < 0 || target >= classes))
      raise<IndexError>("[cross_entropy] target {} is outside the {} classes and is not the ignore index {}",
                        target, classes, options.ignore_index);
}

template <class T>
struct RowLoss {
  T loss, logsumexp;
};

template <class T>
RowLoss<T> row_loss(const T* x, int64_t classes, int64_t target, T smoothing) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T top = internal::lane_max<T>(classes, [=](int64_t i) { return x[i]; });
  if (top == -kInfinity && std::none_of(x, x + classes, [](T v) { return v != v; })) return {kInfinity, top};
  const T total = internal::lane_sum<T>(classes, [=](int64_t i) { return internal::fast_exp(x[i] - top); });
  const T logsumexp = top + std::log(total);
  if (smoothing == 0) return {logsumexp - x[target], logsumexp};
  const T sum = internal::lane_sum<T>(classes, [=](int64_t i) { return logsumexp - x[i]; });
  return {(1 - smoothing) * (logsumexp - x[target]) + smoothing * sum / static_cast<T>(classes), logsumexp};
}

}  // namespace

CrossEntropy cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  check(logits, targets, options);
  const int64_t classes = logits.size(-1), rows = targets.numel();
  const Tensor x = logits.contiguous(), t = targets.contiguous();
  CrossEntropy result{Tensor::empty(targets.shape(), logits.dtype()),
                      Tensor::empty(targets.shape(), logits.dtype()), 0};
  const int64_t* target = t.data<int64_t>();
  for (int64_t row = 0; row < rows; ++row) result.counted += target[row] != options.ignore_index;
  internal::dispatch_floating("cross_entropy", logits, [&]<class T>(T) {
    const T* in = x.data<T>();
    T* losses = result.losses.mutable_data<T>();
    T* logsumexp = result.logsumexp.mutable_data<T>();
    const T smoothing = static_cast<T>(options.label_smoothing);
    internal::parallel_chunks(rows, internal::rows_per_chunk(classes), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        losses[row] = logsumexp[row] = 0;
        if (target[row] == options.ignore_index) continue;
        const auto [loss, total] = row_loss(in + row * classes, classes, target[row], smoothing);
        losses[row] = loss;
        logsumexp[row] = total;
      }
    });
  });
  return result;
}

Tensor cross_entropy_backward(const Tensor& grad, const Tensor& logits, const Tensor& targets,
                              const Tensor& logsumexp, const CrossEntropyOptions& options) {
  const int64_t classes = logits.size(-1), rows = targets.numel();
  const Tensor g = grad.expand(targets.shape()).contiguous(), x = logits.contiguous(),
               t = targets.contiguous();
  Tensor out = Tensor::empty(logits.shape(), logits.dtype());
  internal::dispatch_floating("cross_entropy_backward", logits, [&]<class T>(T) {
    const T *in = x.data<T>(), *upstream = g.data<T>(), *total = logsumexp.data<T>();
    const int64_t* target = t.data<int64_t>();
    T* to = out.mutable_data<T>();
    const T spread = static_cast<T>(options.label_smoothing) / static_cast<T>(classes);
    const T peak = 1 - static_cast<T>(options.label_smoothing);
    internal::parallel_chunks(rows, internal::rows_per_chunk(classes), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* line = to + row * classes;
        if (target[row] == options.ignore_index) {
          std::fill_n(line, classes, T(0));
          continue;
        }
        const T *from = in + row * classes, factor = upstream[row];
        const T shift = total[row] == -std::numeric_limits<T>::infinity() ? T(0) : total[row];
#pragma omp simd
        for (int64_t i = 0; i < classes; ++i)
          line[i] = factor * (internal::fast_exp(from[i] - shift) - spread);
        line[target[row]] -= factor * peak;
      }
    });
  });
  return out;
}

Tensor negative_target_distribution(const Tensor& targets, int64_t classes,
                                    const CrossEntropyOptions& options, DType dtype) {
  Shape shape = targets.shape();
  shape.push_back(classes);
  Tensor out = zeros({targets.numel(), classes}, dtype);
  const auto target = targets.contiguous();
  for (int64_t row = 0; row < targets.numel(); ++row) {
    const int64_t t = target.data<int64_t>()[row];
    if (t == options.ignore_index) continue;
    out.select(0, row).fill(-options.label_smoothing / static_cast<double>(classes));
    out.set({row, t}, out.at({row, t}) - (1 - options.label_smoothing));
  }
  return out.reshape(shape);
}

}  // namespace heed::kernels
