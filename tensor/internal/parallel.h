#pragma once

#include <algorithm>
#include <cstdint>

#include <heed/tensor/threads.h>

namespace heed::internal {

/// False in a build without OpenMP (HEED_OPENMP=OFF), where every loop is one thread's.
#ifdef _OPENMP
inline constexpr bool kHasTeams = true;
#else
inline constexpr bool kHasTeams = false;
#endif

/// f(begin, end) over [0, count) in chunks of `chunk`, on several threads when there is more than one
/// chunk. The cuts depend on the count alone, never on the number of threads, so whatever f computes
/// for a chunk is the same for any number of them. f must not throw.
template <class F>
void parallel_chunks(int64_t count, int64_t chunk, F&& f) {
  const int64_t chunks = (count + chunk - 1) / chunk;
  const auto run = [&](int64_t i) { f(i * chunk, std::min(count, (i + 1) * chunk)); };
  const int threads =
      kHasTeams && chunks > 1 ? static_cast<int>(std::min<int64_t>(num_threads(), chunks)) : 1;
  if (threads == 1) {
    for (int64_t i = 0; i < chunks; ++i) run(i);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < chunks; ++i) run(i);
}

/// How many rows make a chunk of about `kRowChunkWork` units, some 50 microseconds, when one row is `work`
/// units. Smaller arrays stay on one thread: little would be gained, and beside another busy process a team
/// of threads can lose a whole time slice at each loop.
inline constexpr int64_t kRowChunkWork = 1 << 17;
inline int64_t rows_per_chunk(int64_t work) {
  return std::max<int64_t>(1, kRowChunkWork / std::max<int64_t>(work, 1));
}

}  // namespace heed::internal
