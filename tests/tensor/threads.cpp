#include <heed/tensor/threads.h>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/random.h>

#include "helpers.h"
#include "tests/support/threads.h"

using namespace heed;
using heed::test::expect_error;
using heed::test::Threads;

namespace {

using Clock = std::chrono::steady_clock;

/// False in a build without OpenMP.
constexpr bool kHasTeams = HEED_HAS_TEAMS;

constexpr const char* kChildVariable = "HEED_TEST_THREADS_CHILD";

int64_t tasks_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// The number of threads is found once in a process; so this program, started again with the variable set,
/// says what it finds and ends before any test runs.
bool report_as_child() {
  if (std::getenv(kChildVariable) == nullptr) return false;
  const auto tasks = static_cast<long>(tasks_of_this_process());
  try {
    std::printf("tasks %ld threads %d\n", tasks, num_threads());
  } catch (const ValueError& error) {
    std::printf("error %s\n", error.what());
  }
  std::fflush(stdout);
  ::_exit(0);
}

[[maybe_unused]] const bool kReported = report_as_child();

/// Starts this program again as a child that reports; `prepare` runs in it before.
template <class F>
std::string report_after(F&& prepare) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("HEED_NUM_THREADS");
    ::setenv(kChildVariable, "1", 1);
    prepare();
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "tests", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 256> buffer{};
  for (ssize_t count; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(count));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

std::string report_with_variable(const char* value) {
  return report_after([&] { ::setenv("HEED_NUM_THREADS", value, 1); });
}

/// Whether f() is true in a forked child that ends in time.
template <class F>
bool holds_in_child(F&& f, std::chrono::seconds limit = std::chrono::seconds(10)) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  int status = 0;
  for (const auto end = Clock::now() + limit; Clock::now() < end;) {
    if (::waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ADD_FAILURE() << "the child hangs";
  return false;
}

int processors_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

void use_one_processor() {
  cpu_set_t all, one;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  ::sched_getaffinity(0, sizeof all, &all);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

TEST(case_C44, starting_costs_no_threads) {
  const std::string report = report_after([] {});
  EXPECT_TRUE(report.starts_with("tasks 1 threads ")) << report;
}

TEST(case_C44, as_many_threads_as_processors_that_may_be_used) {
  const std::string report = report_after([] {});
  int threads = 0;
  ASSERT_EQ(std::sscanf(report.c_str(), "tasks %*d threads %d", &threads), 1) << report;
  EXPECT_GE(threads, 1);
  EXPECT_LE(threads, processors_allowed());
  EXPECT_EQ(report_after(use_one_processor), "tasks 1 threads 1\n");
}

TEST(case_C44, the_variable_sets_the_number) {
  EXPECT_EQ(report_with_variable("3"), "tasks 1 threads 3\n");
  EXPECT_EQ(report_with_variable("1024"), "tasks 1 threads 1024\n");
  EXPECT_EQ(report_with_variable(""), report_after([] {})) << "empty is as good as unset";
}

TEST(case_C44, a_variable_that_is_no_number_is_an_error) {
  for (const std::string value :
       {"0", "-1", "two", "2 ", " 2", "2.5", "+2", "0x2", "1025", "99999999999999999999"})
    EXPECT_EQ(
        report_with_variable(value.c_str()),
        "error [threads] wanted HEED_NUM_THREADS to be a number from 1 to 1024, came \"" + value + "\"\n");
}

TEST(case_C44, a_forked_child_multiplies_after_a_parallel_product_of_its_parent) {
  const int before = num_threads();
  set_num_threads(2);
  for (const DType dtype : {DType::f32, DType::f64}) {
    Generator generator(44);
    const Tensor a = rand_uniform({300, 300}, -1, 1, dtype, generator);
    const Tensor b = rand_uniform({300, 300}, -1, 1, dtype, generator);
    const Tensor product = kernels::matmul(a, b);
    EXPECT_TRUE(holds_in_child([&] { return allclose(kernels::matmul(a, b), product, 1e-4, 1e-4); }));
    EXPECT_TRUE(holds_in_child([] {
      Generator other(1);
      return rand_normal({200'000}, 0, 1, DType::f32, other).numel() == 200'000;
    }));
    EXPECT_TRUE(allclose(kernels::matmul(a, b), product)) << "the parent goes on";
  }
  EXPECT_EQ(num_threads(), 2);
  set_num_threads(before);
}

TEST(case_C44, a_forked_child_has_one_thread) {
  num_threads();
  EXPECT_TRUE(holds_in_child([] { return num_threads() == 1; }));
  EXPECT_TRUE(holds_in_child([] {
    set_num_threads(1);
    try {
      set_num_threads(2);
    } catch (const ValueError& error) {
      return std::string(error.what()) == "[threads] wanted 1 thread in a forked child, came 2";
    }
    return false;
  }));
}

TEST(threads, the_number_is_checked) {
  const int before = num_threads();
  expect_error<ValueError>([] { set_num_threads(0); }, "[threads] wanted from 1 to 1024 threads, came 0");
  expect_error<ValueError>([] { set_num_threads(-5); }, "came -5");
  expect_error<ValueError>([] { set_num_threads(1025); }, "came 1025");
  EXPECT_EQ(num_threads(), before);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(before);
}

TEST(run_together, calls_each_once) {
  for (const int threads : {1, 2, 3})
    for (const int64_t count : {0, 1, 2, 3, 7}) {
      const Threads some(threads);
      std::vector<int> calls(static_cast<size_t>(count));
      run_together(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(count), 1)) << threads;
    }
}

TEST(run_together, as_many_are_at_work_as_there_are_threads) {
  const Threads two(2);
  std::atomic<int> at_work = 0, most = 0;
  run_together(2, [&](int64_t) {
    ++at_work;
    for (const auto end = Clock::now() + std::chrono::seconds(2); most < 2 && Clock::now() < end;) {
      most = std::max(most.load(), at_work.load());
      std::this_thread::yield();
    }
    --at_work;
  });
  EXPECT_EQ(most, kHasTeams ? 2 : 1);
}

TEST(run_together, each_works_alone_where_several_work) {
  const auto seen = [](int threads, int64_t count) {
    const Threads some(threads);
    std::vector<int> numbers(static_cast<size_t>(count));
    run_together(count, [&](int64_t i) { numbers[static_cast<size_t>(i)] = num_threads(); });
    EXPECT_EQ(num_threads(), threads) << "as before";
    return numbers;
  };
  EXPECT_EQ(seen(3, 2), std::vector<int>(2, kHasTeams ? 1 : 3));
  EXPECT_EQ(seen(3, 1), std::vector<int>{3});
  EXPECT_EQ(seen(1, 2), (std::vector<int>{1, 1}));
}

TEST(run_together, inside_of_another_it_goes_on_alone) {
  const Threads two(2);
  std::mutex mutex;
  std::map<std::thread::id, int> calls;
  run_together(2, [&](int64_t) {
    const auto own = std::this_thread::get_id();
    run_together(5, [&](int64_t) {
      EXPECT_TRUE(std::this_thread::get_id() == own || !kHasTeams);
      const std::lock_guard lock(mutex);
      ++calls[std::this_thread::get_id()];
    });
  });
  int all = 0;
  for (const auto& [thread, count] : calls) all += count;
  EXPECT_EQ(all, 10);
}

TEST(run_together, a_number_comes_to_the_same_thread_each_time) {
  const Threads two(2);
  std::array<std::thread::id, 5> first, again;
  run_together(5, [&](int64_t i) { first[static_cast<size_t>(i)] = std::this_thread::get_id(); });
  for (int round = 0; round < 10; ++round) {
    run_together(5, [&](int64_t i) { again[static_cast<size_t>(i)] = std::this_thread::get_id(); });
    EXPECT_EQ(again, first);
  }
}

TEST(run_together, throws_the_first_exception_when_all_have_ended) {
  for (const int threads : {1, 2}) {
    const Threads some(threads);
    std::atomic<int> ended = 0;
    const auto fail = [&](int64_t i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(i == 1 ? 20 : 0));
      ++ended;
      if (i == 1 || i == 3) raise<ValueError>("[test] number {}", i);
    };
    expect_error<ValueError>([&] { run_together(5, fail); }, "[test] number 1");
    EXPECT_EQ(ended, 5);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_THROW(run_together(2, [](int64_t) { throw std::runtime_error("of another kind"); }),
                 std::runtime_error);
  }
}
