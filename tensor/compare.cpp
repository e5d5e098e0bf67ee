#include <heed/tensor/compare.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <heed/tensor/internal/dispatch.h>

namespace heed {
namespace {

bool same_kind(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) raise<ValueError>("[equal] wanted two tensors, came an undefined one");
  return a.dtype() == b.dtype() && a.shape() == b.shape();
}

}  // namespace

bool allclose(const Tensor& a, const Tensor& b, double relative, double absolute, bool equal_nan) {
  if (a.shape() != b.shape())
    raise<ShapeError>("[allclose] wanted one shape, came {} and {}", describe(a), describe(b));
  if (!(relative >= 0) || !(absolute >= 0))
    raise<ValueError>("[allclose] wanted tolerances of 0 or more, came {} and {}", relative, absolute);
  const auto is_close = [=](double x, double y) {
    if (x == y) return true;
    if (std::isnan(x) || std::isnan(y)) return equal_nan && std::isnan(x) && std::isnan(y);
    return std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= absolute + relative * std::abs(y);
  };
  const Tensor left = a.contiguous(), right = b.contiguous();
  return internal::dispatch_all(a.dtype(), [&]<class A>(A) {
    return internal::dispatch_all(b.dtype(), [&]<class B>(B) {
      return std::ranges::equal(left.span<A>(), right.span<B>(), is_close, internal::widen<A>,
                                internal::widen<B>);
    });
  });
}

bool equal(const Tensor& a, const Tensor& b) {
  if (!same_kind(a, b)) return false;
  const Tensor left = a.contiguous(), right = b.contiguous();
  return internal::dispatch_all(a.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bfloat16>)
      return std::ranges::equal(left.span<T>(), right.span<T>(), {}, internal::widen<T>, internal::widen<T>);
    else
      return std::ranges::equal(left.span<T>(), right.span<T>());
  });
}

bool identical(const Tensor& a, const Tensor& b) {
  if (!same_kind(a, b)) return false;
  const Tensor left = a.contiguous(), right = b.contiguous();
  const auto bytes = static_cast<size_t>(a.numel() * size_of(a.dtype()));
  return std::memcmp(left.bytes(), right.bytes(), bytes) == 0;
}

}  // namespace heed
