#include <heed/autograd/shards.h>

#include <set>
#include <thread>

#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>
#include <heed/autograd/scope.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/ops/memory.h"
#include "tests/support/threads.h"
#include "tests/tensor/helpers.h"

namespace heed::test {
namespace {

Variable random_leaf(const Shape& shape, uint64_t seed, DType dtype = DType::f64) {
  Generator generator(seed);
  return {rand_normal(shape, 0, 0.5, dtype, generator), true};
}

/// A net of two layers over some rows, as a sum over these.
struct Net {
  explicit Net(DType dtype = DType::f64, double dropout_rate = 0)
      : first(random_leaf({6, 5}, 1, dtype)),
        second(random_leaf({5, 3}, 2, dtype)),
        x(random_leaf({rows, 6}, 3, dtype).data()),
        rate(dropout_rate) {}

  Variable loss(int64_t begin, int64_t end) const {
    const Variable hidden = dropout(tanh(matmul(x.slice(0, begin, end), first)), rate);
    return sum(matmul(hidden, second).pow(2));
  }
  std::vector<double> backward(int64_t shards) const {
    return sharded_backward(parameters(), shards,
                            [&](int64_t i) { return loss(rows * i / shards, rows * (i + 1) / shards); });
  }
  std::vector<Variable> parameters() const { return {first, second}; }
  std::vector<Tensor> grads() const { return {first.grad().data().clone(), second.grad().data().clone()}; }

  static constexpr int64_t rows = 13;
  Variable first, second;
  Tensor x;
  double rate;
};

void expect_same_bits(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(identical(got[i], wanted[i])) << i;
}

TEST(sharded_backward, gives_what_the_backward_of_the_sum_gives) {
  const Net whole;
  const Variable loss = whole.loss(0, Net::rows);
  loss.backward();
  for (const int threads : {1, 2, 3})
    for (const int64_t shards : {1, 2, 3, 5, 13}) {
      const Threads some(threads);
      const Net net;
      double total = 0;
      for (const double part : net.backward(shards)) total += part;
      EXPECT_NEAR(total, loss.item(), 1e-12 * loss.item());
      EXPECT_TRUE(close(net.first.grad().data(), whole.first.grad().data(), kF64)) << shards;
      EXPECT_TRUE(close(net.second.grad().data(), whole.second.grad().data(), kF64)) << shards;
    }
}

TEST(sharded_backward, gives_the_gradient_of_a_sum_of_squares_of_each_shard) {
  const Variable x(tensor_of({1., 2., 3.}, DType::f64), true);  // sum over i of (i + 1) |x|^2 = 6 |x|^2
  const auto losses = sharded_backward({&x, 1}, 3, [&](int64_t i) { return sum(x * x) * (i + 1.0); });
  EXPECT_EQ(losses, (std::vector<double>{14, 28, 42}));
  EXPECT_TRUE(close(x.grad().data(), std::vector<double>{12, 24, 36}, kExact));
}

TEST(sharded_backward, adds_to_the_gradients_that_are_there) {
  const Net once, twice;
  once.backward(3);
  twice.backward(3);
  const std::vector<Tensor> first = once.grads();
  twice.backward(3);
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_TRUE(close(twice.grads()[i], (Variable(first[i]) * 2).data(), kF64));
}

TEST(sharded_backward, does_not_depend_on_the_number_of_threads) {
  for (const int64_t shards : {1, 2, 4}) {
    std::vector<std::vector<Tensor>> grads;
    std::vector<uint64_t> positions;
    for (const int threads : {1, 2, 3}) {
      const Threads some(threads);
      manual_seed(5);
      const Net net(DType::f32, 0.4);
      net.backward(shards);
      net.backward(shards);
      grads.push_back(net.grads());
      positions.push_back(default_generator().position());
      EXPECT_EQ(default_generator().seed(), 5U);
    }
    expect_same_bits(grads[1], grads[0]);
    expect_same_bits(grads[2], grads[0]);
    EXPECT_EQ(positions, std::vector<uint64_t>(3, positions[0]));
  }
}

TEST(sharded_backward, gives_the_same_when_shards_run_one_after_the_other) {
  std::vector<std::vector<Tensor>> grads;
  std::set<std::thread::id> threads;
  for (const bool together : {true, false}) {
    const Threads some(2);
    manual_seed(5);
    const Net net(DType::f32, 0.4);
    const auto part = [&](int64_t i) {
      if (!together) threads.insert(std::this_thread::get_id());
      return net.loss(4 * i, 4 * i + 4);
    };
    sharded_backward(net.parameters(), 3, part, {.together = together});
    grads.push_back(net.grads());
  }
  expect_same_bits(grads[1], grads[0]);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(sharded_backward, each_shard_draws_numbers_of_its_own_and_others_in_the_next_step) {
  const Variable x(ones({1}), true);
  std::vector<std::vector<double>> drawn(4);
  manual_seed(1);
  for (size_t step = 0; step < 2; ++step)
    sharded_backward({&x, 1}, 2, [&](int64_t i) {
      drawn[2 * step + static_cast<size_t>(i)] = rand_uniform({8}).to_vector<double>();
      return sum(x);
    });
  for (size_t a = 0; a < drawn.size(); ++a)
    for (size_t b = 0; b < a; ++b) EXPECT_NE(drawn[a], drawn[b]) << a << ", " << b;
}

TEST(sharded_backward, one_shard_is_the_plain_backward) {
  const Net plain(DType::f32, 0.4), sharded(DType::f32, 0.4);
  manual_seed(9);
  plain.loss(0, Net::rows).backward();
  const uint64_t position = default_generator().position();
  manual_seed(9);
  sharded.backward(1);
  EXPECT_EQ(default_generator().position(), position);
  expect_same_bits(sharded.grads(), plain.grads());
}

TEST(sharded_backward, leaves_alone_what_no_loss_depends_on) {
  const Variable used(ones({2}), true), unused(ones({2}), true), in_one(ones({2}), true);
  const Variable all[]{used, unused, in_one};
  sharded_backward(all, 2, [&](int64_t i) { return i == 0 ? sum(used) : sum(used * in_one); });
  EXPECT_TRUE(close(used.grad().data(), std::vector<double>{2, 2}, kExact));
  EXPECT_FALSE(unused.grad().defined());
  EXPECT_TRUE(close(in_one.grad().data(), std::vector<double>{1, 1}, kExact));
}

TEST(sharded_backward, changes_nothing_when_a_shard_fails) {
  for (const int threads : {1, 2}) {
    const Threads some(threads);
    const Net net;
    net.backward(2);
    const std::vector<Tensor> before = net.grads();
    const auto failing = [&](int64_t i) {
      if (i > 0) raise<ValueError>("[test] shard {}", i);
      return net.loss(0, 4);
    };
    expect_error<ValueError>([&] { sharded_backward(net.parameters(), 3, failing); }, "[test] shard 1");
    expect_same_bits(net.grads(), before);
    EXPECT_FALSE(internal::inside_shard());
  }
}

TEST(sharded_backward, gives_its_memory_back) {
  const Net net;
  net.backward(3);
  const int64_t before = memory_stats().current;
  net.backward(3);
  EXPECT_EQ(memory_stats().current, before);
}

TEST(sharded_backward, says_what_it_cannot_take) {
  Variable x(ones({2}), true);
  const Variable y = x * 2, constant(ones({2}));
  const auto with = [&](const Variable& parameter, int64_t shards, const Variable& loss) {
    return [=] { sharded_backward({&parameter, 1}, shards, [&](int64_t) { return loss; }); };
  };
  expect_error<ValueError>(with(x, 0, sum(x)), "[sharded_backward] wanted 1 shard or more, came 0");
  expect_error<GraphError>(with(constant, 2, sum(x)),
                           "[sharded_backward] wanted leaves that need a gradient, came as parameter 0: "
                           "f32(2,), which needs none");
  expect_error<GraphError>(with(y, 2, sum(x)), "came as parameter 0: f32(2,), which an op made");
  expect_error<GraphError>(
      with(x, 2, sum(constant)),
      "[sharded_backward] wanted a single number that needs a gradient, came from shard 0: "
      "f32(), which needs none");
  expect_error<GraphError>(with(x, 2, x * 3), "came from shard 0: f32(2,)");
  expect_error<ValueError>(with(x, 2, Variable()), "undefined");
  const Variable twice[]{x, x}, other(ones({2}), true);
  expect_error<GraphError>([&] { sharded_backward(twice, 2, [&](int64_t) { return sum(x); }); },
                           "came as parameter 1: f32(2,), which is there already");
  const auto older = "[sharded_backward] a loss goes on from what is older than the call and no parameter: ";
  expect_error<GraphError>(
      [&] {
        sharded_backward({&x, 1}, 2, [&](int64_t) { return sum(y); });
      },
      older + std::string("scale f32(2,)"));
  expect_error<GraphError>(
      [&] {
        sharded_backward({&x, 1}, 2, [&](int64_t) { return sum(x * other); });
      },
      older + std::string("leaf f32(2,)"));
  EXPECT_FALSE(other.grad().defined());
  EXPECT_FALSE(x.grad().defined());
  {
    const HookHandle hook = x.register_hook([](const Variable&) { return Variable(); });
    expect_error<GraphError>(with(x, 2, sum(x)),
                             "[sharded_backward] wanted no hooks or one shard, came parameter 0 with hooks");
    with(x, 1, sum(x * 1))();
  }
  sharded_backward({&x, 1}, 2, [&](int64_t) { return sum(x); });
  EXPECT_TRUE(close(x.grad().data(), std::vector<double>{3, 3}, kExact)) << "1 by one shard, 2 by two";
}

TEST(sharded_backward, works_in_the_surroundings_of_its_caller) {
  const Variable x(ones({2}), true);
  const auto noted = [&](auto look) {
    std::vector<std::string> all(2);
    sharded_backward({&x, 1}, 2, [&](int64_t i) {
      all[static_cast<size_t>(i)] = look();
      return sum(x);
    });
    return all;
  };
  const Scope scope("training");
  EXPECT_EQ(noted([] { return *Scope::current(); }), std::vector<std::string>(2, "training"));
  EXPECT_EQ(noted([] { return std::string(internal::inside_shard() ? "inside" : "outside"); }),
            std::vector<std::string>(2, "inside"));
  EXPECT_FALSE(internal::inside_shard());
  {
    const AnomalyMode anomaly;
    const auto bad = [&](int64_t i) { return sum(i == 0 ? x : log(x * -1)); };
    expect_error<AnomalyError>([&] { sharded_backward({&x, 1}, 2, bad); }, "log in training made NaN");
    const auto infinite = [&](int64_t) { return sum(where(x.data().to(DType::boolean), x, log(x * 0))); };
    expect_error<AnomalyError>([&] { sharded_backward({&x, 1}, 2, infinite); }, "log in training made -inf");
    const AllowInfinity allowed;
    noted([&] { return infinite(0).item() > 0 ? std::string("finite") : std::string(); });
  }
  const NoGrad nothing;
  expect_error<GraphError>([&] { noted([] { return std::string(); }); }, "which needs none");
}

}  // namespace
}  // namespace heed::test
