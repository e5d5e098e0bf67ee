#include <heed/nn/loss.h>

#include <cmath>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

TEST(CrossEntropy, is_the_mean_over_the_targets_that_count) {
  const Variable logits(random_tensor({2, 3, 4}), true);
  const Tensor targets = ids({{3, 0, 1}, {2, 1, 1}});
  const auto x = logits.data().to_vector<double>();
  double total = 0;
  for (size_t i = 0; i < 6; ++i) {
    const auto target = static_cast<size_t>(targets.to_vector<int64_t>()[i]);
    if (target == 1) continue;
    double sum = 0;
    for (size_t c = 0; c < 4; ++c) sum += std::exp(x[4 * i + c]);
    total += std::log(sum) - x[4 * i + target];
  }
  EXPECT_TRUE(close(nn::cross_entropy(logits, targets, {.ignore_index = 1}).data(), scalar(total / 3), kF32));
}

TEST(CrossEntropy, smoothing_spreads_a_share_of_the_target) {
  // Two classes: (1 - s / 2) of the target itself and s / 2 of the other.
  const Variable logits(tensor_of({{1, 0}}));
  const double right = std::log(1 + std::exp(-1.0)), wrong = std::log(1 + std::exp(1.0));
  EXPECT_TRUE(close(nn::cross_entropy(logits, ids({0}), {.label_smoothing = 0.2}).data(),
                    scalar(0.9 * right + 0.1 * wrong), kF32));
}

TEST(case_C09, a_nothing_to_learn_from_is_a_loss_of_zero_without_gradient) {
  const Variable logits(tensor_of({{1, 2, 3}, {0, 0, 0}}), true);
  const Variable loss = nn::cross_entropy(logits, ids({-100, -100}));
  EXPECT_EQ(loss.item(), 0);
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), zeros({2, 3}), kExact));
}

TEST(case_C09, b_an_ignored_target_is_not_counted) {
  const Variable logits(tensor_of({{1, 2, 3}, {0, 0, 0}}), true);
  const Variable loss = nn::cross_entropy(logits, ids({2, -100}));
  EXPECT_TRUE(close(loss.data(), scalar(0.40760596), kF32));
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), {0.09003057, 0.24472847, -0.33475904, 0, 0, 0}, kF32));
}

TEST(case_C09, c_a_target_outside_the_classes_is_named_with_their_number) {
  const Variable logits(tensor_of({{1, 2, 3}, {0, 0, 0}}));
  expect_error<IndexError>(
      [&] {
        nn::cross_entropy(logits, ids({0, 3}));
      },
      "[cross_entropy] target 3 is outside the 3 classes");
  expect_error<IndexError>(
      [&] {
        nn::cross_entropy(logits, ids({0, -4}), {.ignore_index = -1});
      },
      "[cross_entropy] target -4 is outside the 3 classes");
  EXPECT_TRUE(
      close(nn::cross_entropy(logits, ids({1, 2}), {.ignore_index = 1}).data(), scalar(std::log(3.0)), kF32));
}
