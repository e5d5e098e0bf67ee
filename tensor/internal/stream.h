#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include <heed/tensor/tensor.h>

/// For arrays that no cache holds. Reading ahead keeps the memory busy while a row is worked on; writing past
/// the caches spares reading what will be overwritten.
namespace heed::internal {

/// True for a result so large that no cache can be counted on.
inline bool beyond_caches(const Tensor& out) {
  return out.numel() * size_of(out.dtype()) >= int64_t{1} << 25;
}

/// Asks for `count` elements that will be read soon; they need not exist.
template <class T>
void prefetch(const T* x, int64_t count) {
  constexpr int64_t kPerLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; i += kPerLine) __builtin_prefetch(x + i);
}

/// Copies past the caches where the alignment allows it, 16 bytes at a time.
template <class T>
void stream(T* to, const T* from, int64_t count) {
  constexpr int64_t kStep = 16 / static_cast<int64_t>(sizeof(T));
  int64_t i = 0;
  if (reinterpret_cast<uintptr_t>(to) % 16 == 0) {
    for (; i + kStep <= count; i += kStep) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
    }
  }
  std::copy(from + i, from + count, to + i);
}

}  // namespace heed::internal
