#include <gtest/gtest.h>

#include <thread>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/checkpoint.h>
#include <heed/autograd/graph.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"

/// Several threads that use the engine at once: what the thread sanitizer looks at.
namespace heed::test {
namespace {

template <class F>
void on_threads(size_t count, const F& f) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

Variable random_leaf(const Shape& shape, uint64_t seed) {
  Generator generator(seed);
  return Variable(rand_normal(shape, 0, 0.5, DType::f32, generator), true);
}

/// A small model with all that a thread has of its own: generator, scope, anomaly mode, hooks, a checkpoint.
Tensor gradient_of_everything(uint64_t seed) {
  manual_seed(seed);
  const AnomalyMode anomaly;
  const Scope scope("thread");
  const Variable x = random_leaf({6, 8}, seed), w = random_leaf({8, 8}, seed + 1);
  const Variable h = checkpoint([w](const Variable& in) { return dropout(tanh(matmul(in, w)), 0.25); }, x);
  const Variable loss = sum(layer_norm(h + x, ones({8}), zeros({8})).softmax(-1) * h);
  const EdgeNorms norms(loss);
  loss.backward();
  EXPECT_GT(norms.graph().edges.front().grad_norm.value_or(0), 0);
  return w.grad().data();
}

TEST(threads, do_everything_at_once_and_get_what_one_gets_alone) {
  constexpr size_t kThreads = 4;
  std::vector<Tensor> alone, together(kThreads);
  for (size_t i = 0; i < kThreads; ++i) alone.push_back(gradient_of_everything(i + 1));
  on_threads(kThreads, [&](size_t i) {
    for (int round = 0; round < 10; ++round) together[i] = gradient_of_everything(i + 1);
  });
  for (size_t i = 0; i < kThreads; ++i) EXPECT_TRUE(close(together[i], alone[i], kExact));
}

TEST(threads, walk_one_graph_that_is_kept) {
  const Variable x = random_leaf({8, 8}, 1);
  const Variable loss = sum(matmul(x, tanh(x)) * x);
  const Tensor alone = grad({&loss, 1}, {&x, 1}, {}, {.retain_graph = true})[0].data();
  on_threads(4, [&](size_t) {
    for (int round = 0; round < 10; ++round) {
      const Variable slope = grad({&loss, 1}, {&x, 1}, {}, {.retain_graph = true})[0];
      EXPECT_TRUE(close(slope.data(), alone, kExact));
    }
  });
  EXPECT_FALSE(x.grad().defined());
}

TEST(threads, a_graph_may_be_walked_and_freed_on_another_thread_than_its_own) {
  const int64_t before = memory_stats().current;
  {
    const Variable x = random_leaf({8, 8}, 1);
    Variable loss;
    std::thread([&] { loss = sum(tanh(x) * x); }).join();
    loss.backward();
    EXPECT_TRUE(x.grad().defined());
    std::thread([graph = std::move(loss)]() mutable { graph = {}; }).join();
  }
  EXPECT_EQ(memory_stats().current, before);
}

}  // namespace
}  // namespace heed::test
