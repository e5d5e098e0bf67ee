#pragma once

#include <array>
#include <cstdint>

namespace heed::internal {

/// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
/// The counter is the place, the key is the seed.
inline std::array<uint32_t, 4> philox(uint64_t seed, uint64_t place) {
  auto c0 = static_cast<uint32_t>(place), c1 = static_cast<uint32_t>(place >> 32);
  uint32_t c2 = 0, c3 = 0;
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * c0;
    const uint64_t b = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t next0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    const uint32_t next2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
    c0 = next0;
    c2 = next2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

}  // namespace heed::internal
