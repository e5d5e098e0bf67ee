#include <heed/tensor/kernels/update.h>

#include <cmath>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

void check(const char* op, const Tensor& parameter, std::initializer_list<const Tensor*> others) {
  for (const Tensor* other : others)
    if (other->shape() != parameter.shape() || other->dtype() != parameter.dtype())
      raise<ShapeError>("[{}] wanted {} for gradient and state, came {}", op, describe(parameter),
                        describe(*other));
}

}  // namespace

void adam_update(Tensor& parameter, const Tensor& grad, Tensor& m, Tensor& v, const AdamOptions& options) {
  check("adam", parameter, {&grad, &m, &v});
  const Tensor gradient = grad.contiguous();
  internal::dispatch_floating("adam", parameter, [&]<class T>(T) {
    T *p = parameter.mutable_span<T>().data(), *first = m.mutable_span<T>().data(),
      *second = v.mutable_span<T>().data();
    const T* g = gradient.data<T>();
    const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(options.step));
    const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(options.step));
    const T b1 = static_cast<T>(options.beta1), b2 = static_cast<T>(options.beta2);
    const T rest1 = static_cast<T>(1 - options.beta1), rest2 = static_cast<T>(1 - options.beta2);
    const T rate = static_cast<T>(options.lr / correction1),
            root = static_cast<T>(1 / std::sqrt(correction2));
    const T epsilon = static_cast<T>(options.epsilon), decay = static_cast<T>(options.weight_decay);
    internal::parallel_chunks(parameter.numel(), 1 << 17, [&](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const T slope = g[i] + decay * p[i];
        first[i] = b1 * first[i] + rest1 * slope;
        second[i] = b2 * second[i] + rest2 * slope * slope;
        p[i] -= rate * first[i] / (std::sqrt(second[i]) * root + epsilon);
      }
    });
  });
}

}  // namespace heed::kernels
