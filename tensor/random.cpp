#include <heed/tensor/random.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/philox.h>

namespace heed {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kChunk = 1 << 14;

/// 53 random bits as a double in [0, 1).
double unit(uint32_t high, uint32_t low) {
  const uint64_t bits = (uint64_t{high} << 21) ^ (low >> 11);
  return static_cast<double>(bits & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

/// Fills a tensor by f(words), which gives two numbers for each block of the generator.
template <class T, class F>
void fill_pairs(Tensor& result, Generator& generator, F f) {
  const int64_t count = result.numel();
  const uint64_t start = generator.take(static_cast<uint64_t>((count + 1) / 2));
  T* out = result.mutable_data<T>();
  internal::parallel_chunks((count + 1) / 2, kChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto [first, second] = f(internal::philox(generator.seed(), start + static_cast<uint64_t>(i)));
      out[2 * i] = static_cast<T>(first);
      if (2 * i + 1 < count) out[2 * i + 1] = static_cast<T>(second);
    }
  });
}

template <class F>
Tensor generate_pairs(const Shape& shape, DType dtype, Generator& generator, F f) {
  Tensor result = Tensor::empty(shape, dtype);
  internal::dispatch_floating("random", result, [&]<class T>(T) { fill_pairs<T>(result, generator, f); });
  return result;
}

}  // namespace

uint64_t Generator::take(uint64_t count) { return std::exchange(position_, position_ + count); }

uint64_t Generator::below(uint64_t bound) {
  if (bound == 0) raise<ValueError>("[random] wanted a bound of 1 or more, came 0");
  const auto words = block(seed_, take(1));
  const uint64_t word = (uint64_t{words[0]} << 32) | words[1];
  return static_cast<uint64_t>((static_cast<Wide>(word) * bound) >> 64);
}

std::array<uint32_t, 4> Generator::block(uint64_t seed, uint64_t place) {
  return internal::philox(seed, place);
}

Generator& default_generator() {
  thread_local Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

Tensor rand_uniform(const Shape& shape, double low, double high, DType dtype, Generator& generator) {
  if (!(low <= high) || !std::isfinite(high - low))
    raise<ValueError>("[rand_uniform] wanted finite low <= high, came {} and {}", low, high);
  // Rounding may reach `high` itself; the largest number below it stands in.
  const double top = dtype == DType::f32 ? std::nextafter(static_cast<float>(high), static_cast<float>(low))
                                         : std::nextafter(high, low);
  return generate_pairs(shape, dtype, generator, [=](const std::array<uint32_t, 4>& w) {
    const double a = low + (high - low) * unit(w[0], w[1]);
    const double b = low + (high - low) * unit(w[2], w[3]);
    return std::pair(std::min(a, top), std::min(b, top));
  });
}

Tensor rand_normal(const Shape& shape, double mean, double deviation, DType dtype, Generator& generator) {
  if (!(deviation >= 0) || !std::isfinite(deviation))
    raise<ValueError>("[rand_normal] wanted a finite deviation of 0 or more, came {}", deviation);
  return generate_pairs(shape, dtype, generator, [=](const std::array<uint32_t, 4>& w) {
    const double radius = deviation * std::sqrt(-2 * std::log1p(-unit(w[0], w[1])));
    const double angle = 2 * std::numbers::pi * unit(w[2], w[3]);
    return std::pair(mean + radius * std::cos(angle), mean + radius * std::sin(angle));
  });
}

Tensor rand_bernoulli(const Shape& shape, double probability, DType dtype, Generator& generator) {
  if (!(probability >= 0 && probability <= 1))
    raise<ValueError>("[rand_bernoulli] wanted a probability in [0, 1], came {}", probability);
  Tensor result = Tensor::empty(shape, DType::boolean);
  fill_pairs<bool>(result, generator, [=](const std::array<uint32_t, 4>& w) {
    return std::pair(unit(w[0], w[1]) < probability, unit(w[2], w[3]) < probability);
  });
  return result.to(dtype);
}

Tensor rand_integers(const Shape& shape, int64_t low, int64_t high, Generator& generator) {
  if (low >= high) raise<ValueError>("[rand_integers] wanted low < high, came {} and {}", low, high);
  Tensor result = Tensor::empty(shape, DType::i64);
  // Unsigned, because the range may be wider than an int64_t.
  const auto first = static_cast<uint64_t>(low);
  const uint64_t bound = static_cast<uint64_t>(high) - first;
  for (int64_t& value : result.mutable_span<int64_t>())
    value = static_cast<int64_t>(first + generator.below(bound));
  return result;
}

Tensor rand_permutation(int64_t count, Generator& generator) {
  Tensor result = Tensor::empty({count}, DType::i64);
  const auto order = result.mutable_span<int64_t>();
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[generator.below(static_cast<uint64_t>(i + 1))]);
  return result;
}

}  // namespace heed
