#include <heed/tensor/storage.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include <heed/tensor/error.h>

namespace heed {
namespace {

constexpr int64_t kAlignment = 64;
#if defined(__SANITIZE_ADDRESS__)
// A cache would hide use after free from the sanitizer.
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif

/// Blocks come in sizes of 64 * 2^k and the three quarter steps between: at most a quarter is wasted.
constexpr size_t kClasses = size_t{4} * 58;

struct SizeClass {
  size_t index;
  int64_t bytes;
};

SizeClass size_class(int64_t bytes) {
  const auto units = static_cast<uint64_t>(std::max<int64_t>((bytes + kAlignment - 1) / kAlignment, 1));
  const int log = static_cast<int>(std::bit_width(units)) - 1;
  const int step = std::max(log - 2, 0);  // a class is a multiple of 2^step units
  const uint64_t rounded = ((units + (uint64_t{1} << step) - 1) >> step) << step;
  const int rounded_log = static_cast<int>(std::bit_width(rounded)) - 1;
  const auto quarter = rounded_log >= 2 ? (rounded >> (rounded_log - 2)) & 3 : rounded & 3;
  return {static_cast<size_t>(rounded_log) * 4 + quarter, static_cast<int64_t>(rounded) * kAlignment};
}

class Cache {
 public:
  std::byte* take(int64_t bytes) {
    const SizeClass size = size_class(bytes);
    {
      std::lock_guard lock(mutex_);
      auto& blocks = free_[size.index];
      if (!blocks.empty()) {
        std::byte* block = blocks.back();
        blocks.pop_back();
        stats_.cached -= size.bytes;
        count_block(size.bytes);
        return block;
      }
    }
    void* block = allocate(size.bytes);
    if (block == nullptr) {
      release();
      block = allocate(size.bytes);
    }
    std::lock_guard lock(mutex_);
    if (block == nullptr)
      raise<MemoryError>("[storage] wanted {} bytes, the system has none to give ({} bytes are in use)",
                         bytes, stats_.current);
    ++stats_.system_allocations;
    count_block(size.bytes);
    return static_cast<std::byte*>(block);
  }

  void give_back(std::byte* block, int64_t bytes) {
    const SizeClass size = size_class(bytes);
    std::lock_guard lock(mutex_);
    stats_.current -= size.bytes;
    if (kCaching) {
      free_[size.index].push_back(block);
      stats_.cached += size.bytes;
    } else {
      std::free(block);
    }
  }

  void release() {
    std::lock_guard lock(mutex_);
    for (auto& blocks : free_) {
      for (std::byte* block : blocks) std::free(block);
      blocks.clear();
    }
    stats_.cached = 0;
  }

  MemoryStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak = stats_.current;
  }

 private:
  void count_block(int64_t bytes) {
    stats_.current += bytes;
    stats_.peak = std::max(stats_.peak, stats_.current);
  }

  static void* allocate(int64_t bytes) {
    return std::aligned_alloc(static_cast<size_t>(kAlignment), static_cast<size_t>(bytes));
  }

  std::mutex mutex_;
  std::array<std::vector<std::byte*>, kClasses> free_;
  MemoryStats stats_;
};

Cache& cache() {
  // Never destroyed: tensors with static lifetime may outlive any order of destruction.
  static Cache& instance = *new Cache;
  return instance;
}

}  // namespace

Storage::Storage(int64_t bytes) : data_(cache().take(bytes)), bytes_(bytes) {}

Storage::Storage(std::byte* data, int64_t bytes, std::shared_ptr<const void> owner)
    : data_(data), bytes_(bytes), is_outside_(true), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (!is_outside_) cache().give_back(data_, bytes_);
}

MemoryStats memory_stats() { return cache().stats(); }
void reset_peak_memory() { cache().reset_peak(); }
void release_cached_memory() { cache().release(); }

}  // namespace heed
