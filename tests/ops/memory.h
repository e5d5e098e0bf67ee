#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

/// What the process holds of the machine's memory.
namespace heed::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// A sanitizer keeps memory of its own and holds freed blocks back, so resident sizes say nothing there.
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace heed::test
