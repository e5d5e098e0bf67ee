#include <heed/optim/accumulation.h>

#include <heed/autograd/ops.h>
#include <heed/optim/sgd.h>

#include "tests/optim/helpers.h"
#include "tests/tensor/generators.h"

using namespace heed;
using namespace heed::test;

namespace {

/// A linear classifier of three classes on five features; a batch is its rows from begin to end.
struct Classifier {
  Variable weight{random_tensor({3, 5}, 7), true};
  Tensor features = random_tensor({40, 5}, 8);
  Tensor targets;
  optim::SGD optimizer{{{"weight", weight}}, {.lr = 0.5, .momentum = 0.9}};
  optim::GradientMean mean{{weight}};

  Classifier() {
    Generator generator(9);
    targets = rand_integers({40}, 0, 3, generator);
  }
  void add(int64_t begin, int64_t end) {
    const Variable logits = linear(features.slice(0, begin, end), weight);
    mean.add(cross_entropy_losses(logits, targets.slice(0, begin, end)).sum(), end - begin);
  }
  double step() {
    const double loss = mean.finish();
    optimizer.step();
    return loss;
  }
};

}  // namespace

TEST(GradientMean, gives_the_gradient_of_the_mean_over_all_tokens) {
  const Variable p(tensor_of({2}), true);
  optim::GradientMean mean({p});
  mean.add((p * 4.0).sum(), 1);
  mean.add((p * 5.0).sum(), 3);
  EXPECT_EQ(mean.batches(), 2);
  EXPECT_EQ(mean.finish(), 18 / 4.0);
  EXPECT_EQ(p.grad().item(), 9 / 4.0);
  EXPECT_EQ(mean.batches(), 0);
}

TEST(GradientMean, drops_gradients_of_before) {
  Variable p(tensor_of({2}), true);
  p.set_grad(tensor_of({100}));
  optim::GradientMean mean({p});
  mean.add(p.sum(), 1);
  EXPECT_EQ(mean.finish(), 2);
  mean.add(p.sum(), 2);
  EXPECT_EQ(mean.finish(), 1);
  EXPECT_EQ(p.grad().item(), 0.5);
}

TEST(GradientMean, any_split_of_a_batch_is_the_batch) {
  EXPECT_TRUE(rc::check([] {
    const int64_t tokens = any_between(1, 12);
    const Tensor losses = any_tensor({tokens});
    const Variable p(full({1}, 0.5, DType::f64), true);
    optim::GradientMean mean({p});
    std::vector<int64_t> cuts{0, tokens};
    for (int64_t i = any_between(0, 4); i > 0; --i) cuts.push_back(any_between(0, tokens));
    std::ranges::sort(cuts);  // two may be the same: a batch without tokens
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      mean.add((p * losses.slice(0, cuts[i], cuts[i + 1])).sum(), cuts[i + 1] - cuts[i]);
    double wanted = 0;
    for (const double loss : losses.to_vector<double>()) wanted += loss / static_cast<double>(tokens);
    RC_ASSERT(std::abs(mean.finish() - 0.5 * wanted) <= 1e-12);
    RC_ASSERT(std::abs(p.grad().item() - wanted) <= 1e-12);
  }));
}

TEST(GradientMean, without_any_token_is_zero) {
  const Variable logits(random_tensor({2, 3}), true);
  optim::GradientMean mean({logits});
  mean.add(cross_entropy_losses(logits, ids({1, 1}), {.ignore_index = 1}).sum(), 0);
  EXPECT_EQ(mean.finish(), 0);
  EXPECT_TRUE(close(logits.grad().data(), zeros({2, 3}), kExact));
}

TEST(GradientMean, refuses_a_negative_count_and_an_empty_group) {
  const Variable p(tensor_of({2}), true);
  optim::GradientMean mean({p});
  expect_error<ValueError>([&] { mean.add(p.sum(), -1); },
                           "[gradient_mean] wanted a count of 0 or more, came -1");
  expect_error<ValueError>([&] { mean.finish(); }, "[gradient_mean] there is no batch to take the mean of");
  EXPECT_FALSE(p.grad().defined());
}

TEST(case_C27, a_batches_of_any_sizes_are_one_large_batch) {
  Classifier whole, parts;
  for (int round = 0; round < 3; ++round) {
    whole.add(0, 40);
    parts.add(0, 1);
    parts.add(1, 12);
    parts.add(12, 40);
    EXPECT_NEAR(parts.step(), whole.step(), 1e-6);
    EXPECT_TRUE(close(parts.weight.data(), whole.weight.data(), {.relative = 1e-6, .absolute = 1e-7}));
  }
}

TEST(case_C27, c_the_last_group_has_its_own_denominator) {
  const std::vector<std::pair<int64_t, int64_t>> batches{{0, 10}, {10, 13}, {13, 20}, {20, 38}, {38, 40}};
  Classifier whole, parts;
  for (int epoch = 0; epoch < 2; ++epoch) {
    int steps = 0;
    for (size_t i = 0; i < batches.size(); ++i) {
      parts.add(batches[i].first, batches[i].second);
      if (parts.mean.batches() < 2 && i + 1 < batches.size()) continue;
      parts.step();
      ++steps;
    }
    EXPECT_EQ(steps, 3);
    for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{{0, 13}, {13, 38}, {38, 40}}) {
      whole.add(begin, end);
      whole.step();
    }
    EXPECT_TRUE(close(parts.weight.data(), whole.weight.data(), {.relative = 1e-6, .absolute = 1e-7}));
  }
}
