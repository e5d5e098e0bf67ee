#include <heed/tensor/storage.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <heed/tensor/creation.h>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int64_t kBlock = int64_t{3} << 20;

}  // namespace

TEST(storage, is_aligned_for_every_size) {
  for (int64_t bytes = 0; bytes < 400; ++bytes) {
    Storage storage(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.data()) % 64, 0u) << bytes;
    EXPECT_EQ(storage.bytes(), bytes);
  }
}

TEST(storage, statistics_follow_what_lives) {
  release_cached_memory();
  reset_peak_memory();
  const MemoryStats before = memory_stats();
  {
    const Storage a(kBlock);
    const Storage b(kBlock);
    EXPECT_GE(memory_stats().current, before.current + 2 * kBlock);
    EXPECT_LE(memory_stats().current, before.current + 2 * kBlock + kBlock / 2);
    EXPECT_EQ(memory_stats().system_allocations, before.system_allocations + 2);
  }
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.current, before.current);
  EXPECT_GE(after.peak, before.current + 2 * kBlock);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, memory_stats().current);
}

TEST(storage, blocks_are_used_again) {
  if (kSanitized) GTEST_SKIP() << "memory is not kept under the address sanitizer";
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached, 0);
  { const Storage first(kBlock); }
  EXPECT_GE(memory_stats().cached, kBlock);
  const int64_t asked = memory_stats().system_allocations;
  for (int i = 0; i < 10; ++i) const Storage again(kBlock - i);
  EXPECT_EQ(memory_stats().system_allocations, asked);
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached, 0);
}

TEST(storage, at_most_a_quarter_is_wasted) {
  for (int64_t bytes = 64; bytes < (int64_t{1} << 26); bytes = bytes * 9 / 8 + 1) {
    const int64_t before = memory_stats().current;
    const Storage storage(bytes);
    const int64_t taken = memory_stats().current - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 4 + 64) << bytes;
  }
}

TEST(storage, memory_that_cannot_be_had_is_an_error_and_leaves_the_statistics) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer ends the process";
  reset_peak_memory();
  const MemoryStats before = memory_stats();
  expect_error<MemoryError>([] { Storage(int64_t{1} << 60); }, "[storage] wanted 1152921504606846976 bytes");
  EXPECT_EQ(memory_stats().current, before.current);
  EXPECT_EQ(memory_stats().peak, before.peak);
  EXPECT_EQ(memory_stats().system_allocations, before.system_allocations);
}

TEST(storage, is_shared_safely_between_threads) {
  const int64_t before = memory_stats().current;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(full({100 * (t + 1)}, t).at({-1}), t);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_stats().current, before);
}
