#include <heed/tensor/kernels/comparison.h>

#include <algorithm>
#include <functional>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {
namespace {

template <class F>
Tensor compare(const char* op, const Tensor& a, const Tensor& b, F f) {
  internal::expect_same_dtype(op, a, b);
  Tensor out = Tensor::empty(broadcast_shapes(op, a.shape(), b.shape()), DType::boolean);
  internal::dispatch_numbers(op, a, [&]<class T>(T) { internal::map_into<T, bool>(out, a, b, f); });
  return out;
}

template <class F>
Tensor logical(const char* op, const Tensor& a, const Tensor& b, F f) {
  internal::expect_bool(op, a);
  internal::expect_bool(op, b);
  Tensor out = Tensor::empty(broadcast_shapes(op, a.shape(), b.shape()), DType::boolean);
  internal::map_into<bool, bool>(out, a, b, f);
  return out;
}

/// Both values are plain arguments and the condition is a byte, so that loops vectorize.
template <class T>
T chosen(uint8_t first, T a, T b) {
  return first != 0 ? a : b;
}

/// Where the result and the condition lie side by side, the usual kinds of sides (an array, one number) each
/// have a loop that vectorizes.
template <class T>
void choose(T* to, const uint8_t* first, const T* a, int64_t sa, const T* b, int64_t sb, int64_t count) {
  if (sa == 1 && sb == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = chosen(first[i], a[i], b[i]);
  } else if (sa == 1 && sb == 0) {
    const T other = *b;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = chosen(first[i], a[i], other);
  } else if (sa == 0 && sb == 1) {
    const T other = *a;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = chosen(first[i], other, b[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = chosen(first[i], a[i * sa], b[i * sb]);
  }
}

/// `count` elements, all of them one number when the stride is 0.
template <class T>
void copy_run(T* to, int64_t to_stride, const T* from, int64_t stride, int64_t count) {
  if (to_stride == 1 && stride == 1)
    std::copy_n(from, count, to);
  else
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * stride];
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) { return compare("eq", a, b, std::equal_to<>{}); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare("ne", a, b, std::not_equal_to<>{}); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare("lt", a, b, std::less<>{}); }
Tensor le(const Tensor& a, const Tensor& b) { return compare("le", a, b, std::less_equal<>{}); }
Tensor gt(const Tensor& a, const Tensor& b) { return compare("gt", a, b, std::greater<>{}); }
Tensor ge(const Tensor& a, const Tensor& b) { return compare("ge", a, b, std::greater_equal<>{}); }

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return logical("logical_and", a, b, [](bool x, bool y) { return x && y; });
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
  return logical("logical_or", a, b, [](bool x, bool y) { return x || y; });
}

Tensor logical_not(const Tensor& a) {
  internal::expect_bool("logical_not", a);
  Tensor out = Tensor::empty(a.shape(), DType::boolean);
  internal::map_into<bool, bool>(out, a, [](bool x) { return !x; });
  return out;
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  internal::expect_bool("where", condition);
  internal::expect_same_dtype("where", a, b);
  const Shape sides = broadcast_shapes("where", a.shape(), b.shape());
  Tensor out = Tensor::empty(broadcast_shapes("where", condition.shape(), sides), a.dtype());
  if (out.numel() == 0) return out;
  const auto pass = internal::make_pass<4>({&out, &condition, &a, &b});
  const int64_t so = pass.inner_stride(0), sc = pass.inner_stride(1), sa = pass.inner_stride(2),
                sb = pass.inner_stride(3);
  internal::dispatch_all(a.dtype(), [&]<class T>(T) {
    T* to = out.mutable_data<T>();
    const auto* first = reinterpret_cast<const uint8_t*>(condition.data<bool>());
    const T *left = a.data<T>(), *right = b.data<T>();
    internal::for_each_run(
        pass, internal::kElementChunk, [=](const std::array<int64_t, 4>& at, int64_t count) {
          if (so == 1 && sc == 1) {
            choose(to + at[0], first + at[1], left + at[2], sa, right + at[3], sb, count);
          } else if (sc == 0) {  // one condition for the whole run, as padding has it
            const bool from_left = first[at[1]] != 0;
            copy_run(to + at[0], so, from_left ? left + at[2] : right + at[3], from_left ? sa : sb, count);
          } else {
            for (int64_t i = 0; i < count; ++i)
              to[at[0] + i * so] = chosen(first[at[1] + i * sc], left[at[2] + i * sa], right[at[3] + i * sb]);
          }
        });
  });
  return out;
}

}  // namespace heed::kernels
