#pragma once

#include <limits>

#include <heed/tensor/error.h>
#include <heed/tensor/tensor.h>

/// From a dtype known at run time to a type known at compile time: `dispatch_*(dtype, [&]<class T>(T)
/// {...})`.
namespace heed::internal {

template <class F>
decltype(auto) dispatch_all(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::bf16: return f(bfloat16{});
    case DType::i64: return f(int64_t{});
    case DType::boolean: break;
  }
  return f(bool{});
}

/// f32 and f64: what the loops of our own compute in.
template <class F>
decltype(auto) dispatch_floating(const char* op, const Tensor& x, F&& f) {
  switch (x.dtype()) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: raise<DTypeError>("[{}] wanted f32 or f64, came {}", op, describe(x));
  }
}

/// f32, f64 and i64.
template <class F>
decltype(auto) dispatch_numbers(const char* op, const Tensor& x, F&& f) {
  switch (x.dtype()) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i64: return f(int64_t{});
    default: raise<DTypeError>("[{}] wanted f32, f64 or i64, came {}", op, describe(x));
  }
}

/// An element as a double.
template <class T>
double widen(T value) {
  if constexpr (std::is_same_v<T, bfloat16>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

/// Cut towards zero; what no int64_t holds becomes the nearest that does, NaN becomes 0.
template <class From>
int64_t to_whole(From value) {
  constexpr From kLimit = From(0x1p63);
  if (value != value) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  return value < -kLimit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

/// A number as an element of type To.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (std::is_same_v<From, bfloat16>)
    return convert<To>(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bfloat16>)
    return bfloat16(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From{};
  else if constexpr (std::is_same_v<To, int64_t> && std::is_floating_point_v<From>)
    return to_whole(value);
  else
    return static_cast<To>(value);
}

/// For what takes bf16 too, and computes it in f32.
inline void expect_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) raise<DTypeError>("[{}] wanted f32, f64 or bf16, came {}", op, describe(x));
}

inline void expect_numbers(const char* op, const Tensor& x) {
  if (x.dtype() == DType::boolean) raise<DTypeError>("[{}] wanted numbers, came {}", op, describe(x));
}

inline void expect_bool(const char* op, const Tensor& x) {
  if (x.dtype() != DType::boolean) raise<DTypeError>("[{}] wanted bool, came {}", op, describe(x));
}

inline void expect_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    raise<DTypeError>("[{}] wanted one dtype, came {} and {}", op, describe(a), describe(b));
}

}  // namespace heed::internal
