#pragma once

#include <cstdint>
#include <functional>

namespace heed {

/// How many threads the kernels use that this thread calls: 1 inside of run_together(), else the number of
/// this process. At first that is HEED_NUM_THREADS when it is set (ValueError when that is no number from 1
/// to 1024), else as many processors as this process may use (its affinity, and the CPU quota of its cgroup).
/// A child made by fork has one, because the threads of its parent are not in it.
int num_threads();
/// ValueError unless count is from 1 to 1024, or 1 in a forked child.
void set_num_threads(int count);

/// Calls f(0), ..., f(count - 1), as many at once as there are threads. Where several are at work each works
/// alone: the kernels that it calls use no other. An i comes to the same thread in every call with this
/// count. If some throw, the exception of the lowest i is thrown when all have ended.
void run_together(int64_t count, const std::function<void(int64_t)>& f);

}  // namespace heed
