#include <heed/tensor/kernels/arithmetic.h>

#include <algorithm>
#include <cmath>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {
namespace {

/// i64 wraps around when it overflows, which only unsigned numbers may do.
template <class T>
auto wrapping(T value) {
  if constexpr (std::is_same_v<T, int64_t>)
    return static_cast<uint64_t>(value);
  else
    return value;
}

template <class T>
T plus(T x, T y) {
  return static_cast<T>(wrapping(x) + wrapping(y));
}
template <class T>
T minus(T x, T y) {
  return static_cast<T>(wrapping(x) - wrapping(y));
}
template <class T>
T times(T x, T y) {
  return static_cast<T>(wrapping(x) * wrapping(y));
}
template <class T>
T over(T x, T y) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (y == -1) return minus(T(0), x);  // the processor traps on the smallest number / -1
  }
  return x / y;
}

/// What is computed in: f32 for bf16.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;

/// A plain number as an element; i64 takes whole ones only.
template <class T>
T element(const char* op, double value) {
  if (std::is_same_v<T, int64_t> && (value != std::trunc(value) || std::abs(value) >= 0x1p63))
    raise<ValueError>("[{}] wanted a whole number for i64, came {}", op, value);
  return static_cast<T>(value);
}

/// All numbers; bf16 is computed in f32 and rounded once.
template <class F>
void dispatch_arithmetic(const char* op, const Tensor& x, F&& f) {
  internal::expect_numbers(op, x);
  if (x.dtype() == DType::bf16) return f(bfloat16{});
  internal::dispatch_numbers(op, x, std::forward<F>(f));
}

template <class T, class F, class... Rest>
T compute(F f, T x, Rest... rest) {
  return T(f(static_cast<Wide<T>>(x), static_cast<Wide<T>>(rest)...));
}

template <class F>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, Tensor* into, F f) {
  internal::expect_same_dtype(op, a, b);
  const Shape shape = a.shape() == b.shape() ? a.shape() : broadcast_shapes(op, a.shape(), b.shape());
  return internal::fill_result(
      op, into, shape, a.dtype(), internal::Writes::in_step, {&a, &b}, [&](Tensor& out) {
        dispatch_arithmetic(op, a, [&]<class T>(T) {
          internal::map_into<T, T>(out, a, b, [=](T x, T y) { return compute(f, x, y); });
        });
      });
}

void expect_no_zero(const Tensor& b) {
  if (b.dtype() != DType::i64) return;
  const Tensor divisors = b.contiguous();
  if (std::ranges::find(divisors.span<int64_t>(), 0) != divisors.span<int64_t>().end())
    raise<ValueError>("[div] a whole number divided by 0, in {}", describe(b));
}

/// NaN wins, as IEEE 754-2019 says of maximum and minimum.
template <class T, class Better>
T pick(T a, T b, Better better) {
  return better(a, b) || a != a ? a : b;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, Tensor* into) {
  return binary("add", a, b, into, [](auto x, auto y) { return plus(x, y); });
}

Tensor sub(const Tensor& a, const Tensor& b, Tensor* into) {
  return binary("sub", a, b, into, [](auto x, auto y) { return minus(x, y); });
}

Tensor mul(const Tensor& a, const Tensor& b, Tensor* into) {
  return binary("mul", a, b, into, [](auto x, auto y) { return times(x, y); });
}

Tensor div(const Tensor& a, const Tensor& b, Tensor* into) {
  expect_no_zero(b);
  return binary("div", a, b, into, [](auto x, auto y) { return over(x, y); });
}

Tensor maximum(const Tensor& a, const Tensor& b, Tensor* into) {
  return binary("maximum", a, b, into, [](auto x, auto y) { return pick(x, y, std::greater<>{}); });
}

Tensor minimum(const Tensor& a, const Tensor& b, Tensor* into) {
  return binary("minimum", a, b, into, [](auto x, auto y) { return pick(x, y, std::less<>{}); });
}

Tensor scale(const Tensor& a, double factor, double term) {
  Tensor out = Tensor::empty(a.shape(), a.dtype());
  dispatch_arithmetic("scale", a, [&]<class T>(T) {
    const auto f = element<Wide<T>>("scale", factor), t = element<Wide<T>>("scale", term);
    internal::map_into<T, T>(
        out, a, [=](T x) { return compute([=](auto wide) { return plus(times(wide, f), t); }, x); });
  });
  return out;
}

Tensor pow(const Tensor& a, double exponent) {
  internal::expect_floating("pow", a);
  if (a.dtype() == DType::bf16) return pow(a.to(DType::f32), exponent).to(DType::bf16);
  Tensor out = Tensor::empty(a.shape(), a.dtype());
  internal::dispatch_floating("pow", a, [&]<class T>(T) {
    const T e = static_cast<T>(exponent);
    if (exponent == 1)
      internal::map_into<T, T>(out, a, [](T x) { return x; });  // as in the gradient of a square
    else if (exponent == 2)
      internal::map_into<T, T>(out, a, [](T x) { return x * x; });
    else
      internal::map_into<T, T>(out, a, [=](T x) { return std::pow(x, e); });
  });
  return out;
}

void add_into(Tensor& target, const Tensor& source, double factor) {
  internal::expect_same_dtype("add_into", target, source);
  if (!expandable(source.shape(), target.shape()))
    raise<ShapeError>("[add_into] shape {} does not expand to {}", source.shape(), target.shape());
  // what is still to be read must not have been written
  const bool is_safe = internal::same_places(target, source) || !target.shares_memory(source);
  const Tensor from = is_safe ? source : source.clone();
  dispatch_arithmetic("add_into", target, [&]<class T>(T) {
    const auto f = element<Wide<T>>("add_into", factor);
    internal::map_into<T, T>(target, target, from, [=](T x, T y) {
      return compute([=](auto a, auto b) { return plus(a, times(f, b)); }, x, y);
    });
  });
}

void scale_into(Tensor& target, double factor) {
  dispatch_arithmetic("scale_into", target, [&]<class T>(T) {
    const auto f = element<Wide<T>>("scale_into", factor);
    internal::map_into<T, T>(target, target,
                             [=](T x) { return compute([=](auto wide) { return times(wide, f); }, x); });
  });
}

}  // namespace heed::kernels
