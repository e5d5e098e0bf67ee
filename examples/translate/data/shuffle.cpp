#include "translate/data/shuffle.h"

#include <numeric>
#include <utility>

#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

/// The finalizer of splitmix64.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// The draws of one stream, by counter.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t stream) : state_(mix(seed) ^ mix(~stream)) {}

  /// A number below `bound`, each equally likely.
  uint64_t below(uint64_t bound) {
    const uint64_t incomplete = (0 - bound) % bound;  // 2^64 modulo bound
    uint64_t draw = next();
    while (draw < incomplete) draw = next();
    return draw % bound;
  }

 private:
  uint64_t next() { return mix(state_ += kGolden); }

  uint64_t state_;
};

}  // namespace

std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t stream) {
  if (count < 0) raise<ValueError>("[shuffled] wanted a count of 0 or more, came {}", count);
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Draws draws(seed, stream);
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draws.below(left)]);
  return order;
}

}  // namespace heed::translate
