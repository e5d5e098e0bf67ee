#pragma once

#include <array>
#include <cstdint>

#include <heed/tensor/tensor.h>

namespace heed {

/// A counter-based random number generator (Philox 4x32-10, Salmon et al. 2011): number i of a seed is a
/// pure function of (seed, i), so the numbers are the same for any number of threads, and the whole
/// state is two integers.
class Generator {
 public:
  explicit Generator(uint64_t seed = 0) : seed_(seed) {}

  uint64_t seed() const { return seed_; }
  uint64_t position() const { return position_; }
  void restore(uint64_t seed, uint64_t position) { seed_ = seed, position_ = position; }
  /// Sets aside `count` numbers and returns the place of the first.
  uint64_t take(uint64_t count);
  /// One number, uniform in [0, bound); ValueError when bound is 0.
  uint64_t below(uint64_t bound);

  /// The four 32-bit words at one place of a seed's sequence.
  static std::array<uint32_t, 4> block(uint64_t seed, uint64_t place);

 private:
  uint64_t seed_;
  uint64_t position_ = 0;  // in blocks of four words
};

/// This thread's generator, used where none is given.
Generator& default_generator();
/// Starts this thread's generator anew.
void manual_seed(uint64_t seed);

/// Uniform in [low, high).
Tensor rand_uniform(const Shape& shape, double low = 0, double high = 1, DType dtype = DType::f32,
                    Generator& generator = default_generator());
/// Normal, by Box and Muller's formula.
Tensor rand_normal(const Shape& shape, double mean = 0, double deviation = 1, DType dtype = DType::f32,
                   Generator& generator = default_generator());
/// 1 (true) with this probability, else 0, in any dtype. ValueError unless it lies in [0, 1].
Tensor rand_bernoulli(const Shape& shape, double probability, DType dtype = DType::boolean,
                      Generator& generator = default_generator());
/// Whole numbers, uniform in [low, high), as i64.
Tensor rand_integers(const Shape& shape, int64_t low, int64_t high,
                     Generator& generator = default_generator());
/// A permutation of 0 ... count - 1, as i64.
Tensor rand_permutation(int64_t count, Generator& generator = default_generator());

}  // namespace heed
