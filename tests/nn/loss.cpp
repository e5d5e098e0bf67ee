#include <heed/nn/loss.h>

#include <cmath>

#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops/softmax.h>

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

TEST(MSELoss, matches_pytorch) {
  const LayerFixture fixture = load_fixture("nn.safetensors", "mse");
  const Variables in = f32_leaves(fixture.inputs);
  const Variable loss = nn::mse_loss(in[0], in[1]);
  EXPECT_TRUE(close(loss.data(), fixture.outputs[0], kF32));
  loss.backward();
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(in[i].grad().data(), fixture.grads[i], kF32)) << i;
}

TEST(NLLLoss, matches_pytorch_with_ignored_targets) {
  const LayerFixture fixture = load_fixture("nn.safetensors", "nll");
  const Variables in = f32_leaves(fixture.inputs);
  const Variable loss = nn::nll_loss(in[0], fixture.args[0]);
  EXPECT_TRUE(close(loss.data(), fixture.outputs[0], kF32));
  loss.backward();
  EXPECT_TRUE(close(in[0].grad().data(), fixture.grads[0], kF32));
}

TEST(KLDivergence, matches_pytorch_where_some_targets_are_0) {
  const LayerFixture fixture = load_fixture("nn.safetensors", "kl_div");
  const Variables in = f32_leaves(fixture.inputs);
  const Variable loss = nn::kl_div(in[0], f32(fixture.args[0]));
  EXPECT_TRUE(close(loss.data(), fixture.outputs[0], kF32));
  loss.backward();
  EXPECT_TRUE(close(in[0].grad().data(), fixture.grads[0], kF32));
}

TEST(NLLLoss, of_log_softmax_is_cross_entropy) {
  const Variable a(random_tensor({2, 3, 4}), true), b(a.data(), true);
  const Tensor targets = ids({{3, 0, 1}, {2, 1, 1}});
  const Variable nll = nn::nll_loss(log_softmax(a, -1), targets, {.ignore_index = 1});
  const Variable whole = nn::cross_entropy(b, targets, {.ignore_index = 1});
  EXPECT_TRUE(close(nll.data(), whole.data(), kF32));
  nll.backward();
  whole.backward();
  EXPECT_TRUE(close(a.grad().data(), b.grad().data(), kF32));
}

TEST(KLDivergence, is_0_of_a_distribution_from_itself_and_takes_impossible_events) {
  const Tensor p = tensor_of({{0.5, 0.25, 0.25}});
  EXPECT_NEAR(nn::kl_div(Variable(p).log(), p).item(), 0, 1e-7);
  const Variable x(tensor_of({{std::log(0.5), std::log(0.5), -INFINITY}}), true);
  const Variable loss = nn::kl_div(x, tensor_of({{0.25, 0.75, 0}}));
  EXPECT_NEAR(loss.item(), 0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-6);
  loss.backward();
  EXPECT_TRUE(close(x.grad().data(), {-0.25, -0.75, 0}, kF32));
}

TEST(Loss, of_nothing_is_0_without_gradient) {
  const Variable empty(zeros({0, 3}), true), x(tensor_of({{1, 2, 3}, {0, 0, 0}}), true);
  const auto expect_nothing = [](const Variable& loss, const Variable& leaf) {
    EXPECT_EQ(loss.item(), 0);
    loss.backward();
    EXPECT_TRUE(close(leaf.grad().data(), zeros(leaf.shape()), kExact));
  };
  expect_nothing(nn::mse_loss(empty, zeros({0, 3})), empty);
  expect_nothing(nn::nll_loss(empty, zeros({0}, DType::i64)), empty);
  expect_nothing(nn::kl_div(empty, zeros({0, 3})), empty);
  expect_nothing(nn::nll_loss(x, ids({-100, -100})), x);
  // An impossible prediction that does not count is no NaN either.
  const Variable impossible(full({1, 2}, -INFINITY), true);
  expect_nothing(nn::nll_loss(impossible, ids({-100})), impossible);
}

TEST(Loss, has_gradients_that_differences_confirm) {
  const Variables in{f64_leaf({3, 4}, 1), f64_leaf({3, 4}, 2)};
  const Tensor target = Variable(random_tensor({3, 4}, 3).to(DType::f64)).softmax(-1).data();
  const auto f = [&](std::span<const Variable> at) {
    return Variables{nn::mse_loss(at[0], at[1]), nn::nll_loss(at[0], ids({1, -100, 3})),
                     nn::kl_div(at[0], target)};
  };
  for (const auto& report : {gradcheck(f, in), gradgradcheck(f, in)}) EXPECT_TRUE(report) << report.failure;
}

TEST(Loss, names_what_does_not_fit) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>(
      [&] {
        nn::mse_loss(x, ones({2, 1}));
      },
      "[mse_loss] wanted a target of x's shape (2, 3), came (2, 1)");
  expect_error<ShapeError>([&] { nn::kl_div(x, ones({3})); },
                           "[kl_div] wanted a target of x's shape (2, 3), came (3,)");
  expect_error<ShapeError>([&] { nn::kl_div(scalar(1), scalar(1)); }, "wanted x (batch, ...), came ()");
  const std::string wanted = "[nll_loss] wanted x (..., classes) and targets i64 (...), came (2, 3) and ";
  expect_error<ShapeError>([&] { nn::nll_loss(x, ids({1, 2, 0})); }, wanted + "i64(3,)");
  expect_error<ShapeError>([&] { nn::nll_loss(x, ids({{1, 2}})); }, wanted + "i64(1, 2)");
  expect_error<ShapeError>([&] { nn::nll_loss(x, ones({2})); }, wanted + "f32(2,)");
  expect_error<IndexError>(
      [&] {
        nn::nll_loss(x, ids({0, 3}));
      },
      "[nll_loss] target 3 is outside the 3 classes");
  expect_error<IndexError>(
      [&] {
        nn::nll_loss(x, ids({-1, 0}));
      },
      "[nll_loss] target -1 is outside the 3 classes");
}
