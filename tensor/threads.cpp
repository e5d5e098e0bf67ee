#include <heed/tensor/threads.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heed/tensor/error.h>
#include <heed/tensor/internal/parallel.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

/// Far more than help; without a limit, a slip of the keyboard would bring the system down.
constexpr int kMostThreads = 1024;

int processors_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

/// The CPU quota that one cgroup sets, in processors; infinity when it sets none.
double quota_of(const fs::path& group) {
  double quota = -1, period = 0;
  if (std::ifstream v2(group / "cpu.max"); v2) {
    if (!(v2 >> quota >> period)) return INFINITY;  // "max"
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/// The least quota of this process's cgroup and those above it. A line of /proc/self/cgroup is
/// "number:controllers:/path", with no controllers in version 2.
double processors_by_quota() {
  double least = INFINITY;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    fs::path below = fs::path(line.substr(second + 1)).relative_path();
    for (; !below.empty(); below = below.parent_path()) least = std::min(least, quota_of(root / below));
    least = std::min(least, quota_of(root));
  }
  return least;
}

int initial_threads() {
  if (const char* text = std::getenv("HEED_NUM_THREADS"); text != nullptr && *text != '\0') {
    const std::string_view word = text;
    int count = 0;
    const auto [end, error] = std::from_chars(word.begin(), word.end(), count);
    if (error != std::errc{} || end != word.end() || count < 1 || count > kMostThreads)
      raise<ValueError>("[threads] wanted HEED_NUM_THREADS to be a number from 1 to {}, came \"{}\"",
                        kMostThreads, word);
    return count;
  }
  const double count = std::min<double>(processors_allowed(), std::ceil(processors_by_quota()));
  return std::clamp(static_cast<int>(count), 1, kMostThreads);
}

std::atomic<bool> forked = false;

std::atomic<int>& thread_count() {
  static std::atomic<int> count = [] {
    const int initial = initial_threads();
    // The worker threads of OpenMP do not exist in a forked child: it must go on alone, or it hangs.
    pthread_atfork(nullptr, nullptr, [] {
      forked = true;
      thread_count() = 1;
    });
    return initial;
  }();
  return count;
}

thread_local bool works_alone = false;

/// This thread works alone while it lives.
class Alone {
 public:
  explicit Alone(bool alone) : before_(std::exchange(works_alone, works_alone || alone)) {}
  ~Alone() { works_alone = before_; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool before_;
};

}  // namespace

int num_threads() { return works_alone ? 1 : thread_count().load(); }

void set_num_threads(int count) {
  if (count < 1 || count > kMostThreads)
    raise<ValueError>("[threads] wanted from 1 to {} threads, came {}", kMostThreads, count);
  std::atomic<int>& current = thread_count();
  if (forked && count > 1) raise<ValueError>("[threads] wanted 1 thread in a forked child, came {}", count);
  current = count;
}

void run_together(int64_t count, const std::function<void(int64_t)>& f) {
  std::vector<std::exception_ptr> problems(static_cast<size_t>(std::max<int64_t>(count, 0)));
  const bool several = internal::kHasTeams && count > 1 && num_threads() > 1;
  internal::parallel_chunks(count, 1, [&](int64_t i, int64_t) {
    const Alone alone(several);
    try {
      f(i);
    } catch (...) {
      problems[static_cast<size_t>(i)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& problem : problems)
    if (problem != nullptr) std::rethrow_exception(problem);
}

}  // namespace heed
