#include <heed/tensor/threads.h>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/random.h>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

using Clock = std::chrono::steady_clock;

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
