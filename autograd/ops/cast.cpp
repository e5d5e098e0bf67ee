#include <heed/autograd/ops/cast.h>

#include <heed/autograd/record.h>

namespace heed {

Variable cast(const Variable& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x.requires_grad() && grad_enabled() && !is_floating(dtype))
    raise<DTypeError>("[cast] {} requires a gradient and cannot become {}: detach it first",
                      describe(x.data()), name_of(dtype));
  return record("cast", x.data().to(dtype), {&x}, [from = x.dtype()](Backward& back) {
    back.give(0, [&] { return cast(back.grad(), from); });
  });
}

}  // namespace heed
