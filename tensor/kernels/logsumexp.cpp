#include <heed/tensor/kernels/logsumexp.h>

#include <cmath>
#include <limits>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/reduce_blocks.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {

Tensor logsumexp(const Tensor& x, const Dims& axes, bool keep_axes) {
  Tensor out = Tensor::empty(reduced_shape("logsumexp", x.shape(), axes, keep_axes), x.dtype());
  internal::dispatch_floating("logsumexp", x, [&]<class T>(T) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const internal::Blocks blocks = internal::arrange(x, axes);
    T* all = out.mutable_data<T>();
    internal::for_each_block(
        blocks.values.data<T>(), blocks, [=](const internal::Block<T>& block, int64_t place) {
          T* y = all + place;
          internal::fold_block(y, block, -kInfinity, [](T a, T b) { return b > a ? b : a; });
          // An infinite largest element taken off would leave NaN; exp of what is left in place is 0 or
          // infinity.
          for (int64_t i = 0; i < block.inner; ++i) y[i] = std::isinf(y[i]) ? T(0) : y[i];
          internal::sum_block<T, double>(
              block, [=](T value, int64_t i) { return internal::fast_exp(value - y[i]); },
              [=](int64_t i, double total) { y[i] += static_cast<T>(std::log(total)); });
        });
  });
  return out;
}

}  // namespace heed::kernels
