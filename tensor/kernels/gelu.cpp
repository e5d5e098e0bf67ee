#include <heed/tensor/kernels/gelu.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/gelu_forms.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {

Tensor gelu(const Tensor& x, GeluForm form, Tensor* into) {
  return internal::fill_result(
      "gelu", into, x.shape(), x.dtype(), internal::Writes::in_step, {&x}, [&](Tensor& out) {
        internal::dispatch_floating("gelu", x, [&]<class T>(T) {
          if (form == GeluForm::exact)
            internal::map_into<T, T>(
                out, x, [](T v) { return internal::exact_form(v); }, internal::kFunctionChunk);
          else
            internal::map_into<T, T>(
                out, x, [](T v) { return internal::tanh_form(v); }, internal::kFunctionChunk);
        });
      });
}

Tensor gelu_backward(const Tensor& grad, const Tensor& x, GeluForm form) {
  internal::expect_same_dtype("gelu_backward", grad, x);
  if (grad.shape() != x.shape())
    raise<ShapeError>("[gelu_backward] wanted one shape, came {} and {}", grad.shape(), x.shape());
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("gelu_backward", x, [&]<class T>(T) {
    if (form == GeluForm::exact)
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * internal::exact_form_slope(v); });
    else
      internal::map_into<T, T>(out, grad, x, [](T g, T v) { return g * internal::tanh_form_slope(v); });
  });
  return out;
}

}  // namespace heed::kernels
