#pragma once

#include <cstdint>
#include <vector>

namespace heed::translate {

/// The numbers 0 ... count - 1 in an order that is a pure function of (count, seed, stream), the same on
/// every machine.
///
/// Draw number i of a stream is mix(mix(seed) ^ mix(~stream) + (i + 1) * 0x9E3779B97F4A7C15), mix being the
/// finalizer of splitmix64: a counter, no state. A Fisher-Yates shuffle from the end takes each draw modulo
/// the number of places left; draws from the incomplete last round of 2^64 are thrown away, so every order is
/// equally likely.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t stream);

}  // namespace heed::translate
