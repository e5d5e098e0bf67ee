#pragma once

#include <heed/tensor/error.h>
#include <heed/tensor/tensor.h>

#include <algorithm>
#include <initializer_list>

/// Where a kernel puts its result: in memory of its own, or in a tensor that its caller hands in.
namespace heed::internal {

/// True if two tensors are the same elements in the same order.
inline bool same_places(const Tensor& a, const Tensor& b) {
  return a.shares_memory(b) && a.offset() == b.offset() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

enum class Writes {
  in_step,     ///< element by element, in any layout: an operand may be the result itself
  contiguous,  ///< row-major memory without gaps; an operand may be the result itself
  apart        ///< row-major memory without gaps that no operand shares
};

inline bool may_write(const Tensor& into, Writes writes, std::initializer_list<const Tensor*> operands) {
  if (writes != Writes::in_step && !into.is_contiguous()) return false;
  return std::ranges::none_of(operands, [&](const Tensor* operand) {
    return operand->defined() && into.shares_memory(*operand) &&
           (writes == Writes::apart || !same_places(into, *operand));
  });
}

/// Fills a result with compute(out) and returns it. `into` null, or on an undefined tensor, stands for new
/// memory; otherwise it has to have the result's shape and dtype (ShapeError, DTypeError). Where its layout
/// or its memory is not for the kernel to write, the result is computed apart and then copied.
template <class F>
Tensor fill_result(const char* op, Tensor* into, const Shape& shape, DType dtype, Writes writes,
                   std::initializer_list<const Tensor*> operands, F&& compute) {
  const bool given = into != nullptr && into->defined();
  if (given && into->shape() != shape)
    raise<ShapeError>("[{}] wanted a result of shape {}, came {}", op, shape, into->shape());
  if (given && into->dtype() != dtype)
    raise<DTypeError>("[{}] wanted a result of {}, came {}", op, name_of(dtype), describe(*into));
  if (given && may_write(*into, writes, operands)) {
    compute(*into);
    return *into;
  }
  Tensor out = Tensor::empty(shape, dtype);
  compute(out);
  if (!given) {
    if (into != nullptr) *into = out;
    return out;
  }
  into->copy_from(out);
  return *into;
}

}  // namespace heed::internal
