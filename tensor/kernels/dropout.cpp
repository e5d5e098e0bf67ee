#include <heed/tensor/kernels/dropout.h>

#include <bit>
#include <cmath>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/philox.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

/// Blocks of the generator behind one chunk of the mask, and its elements: 16 of a block's bits decide each.
/// Word w of block i stands at w * kBlocks + i, so that the stores of neighbouring blocks are neighbours.
constexpr int64_t kBlocks = 512;
constexpr int64_t kChunk = 8 * kBlocks;

void draw_chunk(bool* keep, int64_t count, uint64_t seed, uint64_t place, uint16_t threshold) {
  std::array<uint32_t, 4 * kBlocks> words;
#pragma omp simd
  for (int64_t i = 0; i < kBlocks; ++i) {
    const auto block = internal::philox(seed, place + static_cast<uint64_t>(i));
    for (size_t w = 0; w < 4; ++w) words[w * kBlocks + static_cast<size_t>(i)] = block[w];
  }
  const auto halves = std::bit_cast<std::array<uint16_t, kChunk>>(words);
  auto* out = reinterpret_cast<uint8_t*>(keep);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = halves[static_cast<size_t>(i)] >= threshold;
}

void expect_probability(double p) {
  if (!(p >= 0 && p <= 1)) raise<ValueError>("[dropout] wanted a probability in [0, 1], came {}", p);
}

}  // namespace

double dropout_scale(double p) {
  expect_probability(p);
  return p == 1 ? 0 : 1 / (1 - p);
}

Tensor dropout_mask(const Shape& shape, double p, Generator& generator) {
  expect_probability(p);
  Tensor keep = Tensor::empty(shape, DType::boolean);
  if (p == 1) {
    keep.fill(0);
    return keep;
  }
  bool* out = keep.mutable_data<bool>();
  const auto threshold = static_cast<uint16_t>(std::min(std::lround(p * 0x1p16), 0xffffL));
  const int64_t chunks = (keep.numel() + kChunk - 1) / kChunk;
  const uint64_t start = generator.take(static_cast<uint64_t>(chunks * kBlocks));
  internal::parallel_chunks(chunks, 32, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      draw_chunk(out + i * kChunk, std::min(kChunk, keep.numel() - i * kChunk), generator.seed(),
                 start + static_cast<uint64_t>(i * kBlocks), threshold);
  });
  return keep;
}

Tensor dropout(const Tensor& x, const Tensor& keep, double p) {
  if (keep.dtype() != DType::boolean || keep.shape() != x.shape())
    raise<ShapeError>("[dropout] wanted a bool mask of shape {}, came {}", x.shape(), describe(keep));
  const Tensor from = x.contiguous(), mask = keep.contiguous();
  const double factor = dropout_scale(p);
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("dropout", x, [&]<class T>(T) {
    const T* in = from.data<T>();
    const auto* kept = reinterpret_cast<const uint8_t*>(mask.bytes());
    T* to = out.mutable_data<T>();
    const T scale = static_cast<T>(factor);
    internal::parallel_chunks(x.numel(), 1 << 17, [&](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) to[i] = internal::keep_or_zero(kept[i], in[i] * scale);
    });
  });
  return out;
}

}  // namespace heed::kernels
