#include <heed/tensor/kernels/dropout.h>

#include <cmath>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/philox.h>

namespace heed::kernels {
namespace {

/// Elements of one chunk. Each block of the generator gives four words; word w of block i goes to element
/// w * kQuarter + i of the chunk, so that the stores of neighbouring blocks are neighbours.
constexpr int64_t kQuarter = 1024;

void draw_chunk(bool* keep, int64_t count, uint64_t seed, uint64_t place, uint32_t threshold) {
  std::array<bool, 4 * kQuarter> drawn;
  const int64_t blocks = std::min(count, kQuarter);
#pragma omp simd
  for (int64_t i = 0; i < blocks; ++i) {
    const auto words = internal::philox(seed, place + static_cast<uint64_t>(i));
    for (size_t w = 0; w < 4; ++w) drawn[w * kQuarter + static_cast<size_t>(i)] = words[w] >= threshold;
  }
  std::copy_n(drawn.begin(), count, keep);
}

}  // namespace

double dropout_scale(double p) {
  return p == 1 ? 0 : 1 / (1 - p);
}

Tensor dropout_mask(const Shape& shape, double p, Generator& generator) {
  if (!(p >= 0 && p <= 1)) raise<ValueError>("[dropout] wanted a probability in [0, 1], came {}", p);
  Tensor keep = Tensor::empty(shape, DType::boolean);
  if (p == 1) {
    keep.fill(0);
    return keep;
  }
  bool* out = keep.mutable_data<bool>();
  const auto threshold = static_cast<uint32_t>(std::min(std::llround(p * 0x1p32), 0xffffffffLL));
  const int64_t chunk = 4 * kQuarter, chunks = (keep.numel() + chunk - 1) / chunk;
  const uint64_t start = generator.take(static_cast<uint64_t>(chunks * kQuarter));
  internal::parallel_chunks(chunks, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      draw_chunk(out + i * chunk, std::min(chunk, keep.numel() - i * chunk), generator.seed(),
                 start + static_cast<uint64_t>(i * kQuarter), threshold);
  });
  return keep;
}

Tensor dropout(const Tensor& x, const Tensor& keep, double p) {
  if (keep.dtype() != DType::boolean || keep.shape() != x.shape())
    raise<ShapeError>("[dropout] wanted a bool mask of shape {}, came {}", x.shape(), describe(keep));
  const Tensor from = x.contiguous(), mask = keep.contiguous();
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  internal::dispatch_floating("dropout", x, [&]<class T>(T) {
    const T* in = from.data<T>();
    const bool* kept = mask.data<bool>();
    T* to = out.mutable_data<T>();
    const T scale = static_cast<T>(dropout_scale(p));
    internal::parallel_chunks(x.numel(), 1 << 15, [&](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) to[i] = kept[i] ? in[i] * scale : T(0);
    });
  });
  return out;
}

}  // namespace heed::kernels
