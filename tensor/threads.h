#pragma once

#include <cstdint>

namespace heed {

/// How many threads the kernels of this process use. At first: HEED_NUM_THREADS when it is set (ValueError
/// when that is no number from 1 to 1024), else as many processors as this process may use (its affinity, and
/// the CPU quota of its cgroup). A child made by fork has one, because the threads of its parent are not in
/// it.
int num_threads();
/// ValueError unless count is from 1 to 1024, or 1 in a forked child.
void set_num_threads(int count);

}  // namespace heed
