#include <heed/tensor/kernels/masked_fill.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  if (mask.dtype() != DType::boolean || !expandable(mask.shape(), x.shape()))
    raise<ShapeError>("[masked_fill] wanted a bool mask that expands to {}, came {}", x.shape(),
                      describe(mask));
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  if (x.numel() == 0) return out;
  internal::dispatch_numbers("masked_fill", x, [&]<class T>(T) {
    const auto pass = internal::make_pass<3>(x.shape(), {&out, &x, &mask});
    T* to = out.mutable_data<T>();
    const T *from = x.data<T>(), fill = static_cast<T>(value);
    const bool* hide = mask.data<bool>();
    const int64_t so = pass.inner_stride(0), sx = pass.inner_stride(1), sm = pass.inner_stride(2);
    internal::for_each_run(pass, [=](const std::array<int64_t, 3>& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        to[at[0] + i * so] = hide[at[2] + i * sm] ? fill : from[at[1] + i * sx];
    });
  });
  return out;
}

}  // namespace heed::kernels
