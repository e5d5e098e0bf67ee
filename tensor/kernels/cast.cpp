#include <heed/tensor/kernels/cast.h>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {

void copy_into(Tensor& target, const Tensor& source) {
  if (!expandable(source.shape(), target.shape()))
    raise<ShapeError>("[copy] shape {} does not expand to {}", source.shape(), target.shape());
  // Where the two overlap, what is still to be read must not have been written.
  const bool overlap = target.shares_memory(source) && target.numel() > 1;
  const Tensor from = overlap ? source.clone() : source;
  internal::dispatch_all(target.dtype(), [&]<class To>(To) {
    internal::dispatch_all(from.dtype(), [&]<class From>(From) {
      internal::map_into<From, To>(target, from, [](From value) { return internal::convert<To>(value); });
    });
  });
}

}  // namespace heed::kernels
