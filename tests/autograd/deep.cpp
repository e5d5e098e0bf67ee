#include <ctime>
#include <exception>
#include <thread>

#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>

#include "tests/autograd/small_stack.h"
#include "tests/ops/close.h"

/// Graphs that are very deep, and graphs on several threads.
namespace heed::test {
namespace {

Variable chain(Variable y, int64_t length) {
  for (int64_t i = 0; i < length; ++i) y = y + 1;
  return y;
}

/// Steps of a chain; a sanitizer is twenty times slower and needs fewer to overflow.
constexpr int64_t kDeep = kSanitized ? 200000 : 1000000, kLong = kSanitized ? 50000 : 300000;

TEST(case_C15, a_deep_chain_runs_backward_on_a_small_stack) {
  on_small_stack([] {
    const Variable x(scalar(1), true);
    const Variable y = chain(x, kDeep);
    EXPECT_EQ(y.item(), kDeep + 1);
    y.backward();
    EXPECT_EQ(x.grad().item(), 1);
  });
}

TEST(case_C15, a_deep_chain_is_freed_without_backward) {
  on_small_stack([] {
    const int64_t before = memory_stats().current;
    {
      const Variable x(scalar(1), true);
      chain(x, kDeep);
    }
    EXPECT_EQ(memory_stats().current, before);
  });
}

TEST(case_C15, a_deep_chain_of_saved_values_is_freed) {
  on_small_stack([] {
    const int64_t before = memory_stats().current;
    {
      const Variable x(scalar(1), true);
      Variable y = x;
      for (int64_t i = 0; i < kLong; ++i) y = y * y;
    }
    EXPECT_EQ(memory_stats().current, before);
  });
}

TEST(case_C15, deep_branches_join) {
  on_small_stack([] {
    const Variable x(scalar(1), true);
    const Variable y = chain(x, kLong) + chain(x, kLong) * 2;
    EXPECT_EQ(y.item(), 3 * (kLong + 1));
    y.backward();
    EXPECT_EQ(x.grad().item(), 3);
  });
}

TEST(case_C15, grad_and_its_graph_are_as_deep) {
  on_small_stack([] {
    const Variable x(scalar(1), true);
    const Variable y = chain(x, kLong);
    const Variable slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0];
    EXPECT_EQ(slope.item(), 1);
  });
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_for(int64_t length) {
  const double start = thread_seconds();
  const Variable x(scalar(1), true);
  chain(x, length).backward();
  return thread_seconds() - start;
}

TEST(case_C15, time_grows_linearly) {
  seconds_for(1000);
  const double some = seconds_for(kDeep / 20), many = seconds_for(kDeep / 20 * 8);
  EXPECT_LT(many, 3 * 8 * some);  // eight times the work; 64 times if it were quadratic
}

TEST(threads, each_builds_and_walks_graphs_of_its_own) {
  std::vector<double> slopes(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < slopes.size(); ++i)
    threads.emplace_back([&slopes, i] {
      for (int round = 0; round < 50; ++round) {
        const Variable x(full({8, 8}, static_cast<double>(i + 1), DType::f64), true);
        sum(matmul(x, x).tanh() + chain(x, 100) * x).backward();
        slopes[i] = x.grad().data().at({0, 0});
      }
    });
  for (std::thread& thread : threads) thread.join();
  // tanh is flat there, so what is left is d(x (x + 100)) = 2x + 100
  for (size_t i = 0; i < slopes.size(); ++i)
    EXPECT_NEAR(slopes[i], 2 * static_cast<double>(i + 1) + 100, i == 0 ? 1e-4 : 1e-9);
}

TEST(threads, a_shared_leaf_is_read_by_all_with_grad) {
  const Variable shared(full({16}, 3, DType::f64), true);
  std::vector<double> slopes(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < slopes.size(); ++i)
    threads.emplace_back([&shared, &slopes, i] {
      const Variable y = sum(shared * shared * static_cast<double>(i + 1));
      slopes[i] = grad({&y, 1}, {&shared, 1})[0].data().at({5});
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < slopes.size(); ++i) EXPECT_EQ(slopes[i], 6 * static_cast<double>(i + 1));
  EXPECT_FALSE(shared.grad().defined());
}

TEST(case_C41, the_gradient_switch_belongs_to_a_thread) {
  const NoGrad guard;
  bool recorded = false;
  std::thread([&] {
    const Variable x(scalar(2), true);
    const Variable y = x * x;
    recorded = y.requires_grad();
    y.backward();
    EXPECT_EQ(x.grad().item(), 4);
  }).join();
  EXPECT_TRUE(recorded);
  EXPECT_FALSE(grad_enabled());
}

TEST(case_C41, an_exception_sets_the_gradient_switch_back) {
  try {
    const NoGrad guard;
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(grad_enabled());
  }
  const NoGrad outer;
  try {
    const EnableGrad guard;
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(grad_enabled());
  }
}

}  // namespace
}  // namespace heed::test
