#include <heed/tensor/kernels/variance.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/reduce_blocks.h>

namespace heed::kernels {

Tensor var(const Tensor& x, const Dims& axes, const VarianceOptions& options) {
  Tensor out = Tensor::empty(reduced_shape("var", x.shape(), axes, options.keep_axes), x.dtype());
  if (options.correction < 0)
    raise<ValueError>("[var] wanted a correction of 0 or more, came {}", options.correction);
  const internal::Blocks blocks = internal::arrange(x, axes);
  if (blocks.count <= options.correction && out.numel() > 0)
    raise<ValueError>("[var] wanted more than {} elements, came {}: shape {}, axes {}", options.correction,
                      blocks.count, x.shape(), axes);
  Tensor means = Tensor::empty(out.shape(), DType::f64);
  internal::dispatch_floating("var", x, [&]<class T>(T) {
    const auto count = static_cast<double>(blocks.count);
    const double divisor = count - static_cast<double>(options.correction);
    T* to = out.mutable_data<T>();
    double* all_means = means.mutable_data<double>();
    internal::for_each_block(
        blocks.values.data<T>(), blocks, [=](const internal::Block<T>& block, int64_t place) {
          double* mean = all_means + place;
          internal::sum_block<double, double>(
              block, [](T value, int64_t) { return static_cast<double>(value); },
              [=](int64_t i, double total) { mean[i] = total / count; });
          const auto squared_distance = [=](T value, int64_t i) {
            const double distance = static_cast<double>(value) - mean[i];
            return distance * distance;
          };
          internal::sum_block<double, double>(block, squared_distance, [=](int64_t i, double total) {
            to[place + i] = static_cast<T>(total / divisor);
          });
        });
  });
  return out;
}

}  // namespace heed::kernels
