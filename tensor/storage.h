#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

/// What the caching allocator holds and has held, in bytes.
struct MemoryStats {
  int64_t current = 0;             ///< in tensors that live now
  int64_t peak = 0;                ///< the most that lived at once since the last reset_peak_memory()
  int64_t cached = 0;              ///< kept for the next tensors
  int64_t system_allocations = 0;  ///< how many times the system was asked
};

MemoryStats memory_stats();
void reset_peak_memory();
/// Gives every cached block back to the system.
void release_cached_memory();

/// A block of memory that tensors share: 64-byte aligned, from a caching allocator. Its version counts
/// the edits, so that a gradient is never computed from a value that changed after it was saved.
class Storage {
 public:
  /// Throws MemoryError, with the size, when the memory cannot be had.
  explicit Storage(int64_t bytes);
  /// Memory from elsewhere, which is neither copied nor counted; `owner` is let go of with the storage.
  Storage(std::byte* data, int64_t bytes, std::shared_ptr<const void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() { return data_; }
  int64_t bytes() const { return bytes_; }
  /// True if the memory is not heed's own.
  bool is_outside() const { return is_outside_; }
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  bool is_outside_ = false;
  std::shared_ptr<const void> owner_;
  std::atomic<uint64_t> version_ = 0;
};

}  // namespace heed
