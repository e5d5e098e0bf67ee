#include <heed/optim/rmsprop.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;
using optim::RMSprop;
using optim::RMSpropOptions;

TEST(RMSprop, matches_pytorch_over_twenty_steps) {
  expect_like_pytorch<RMSprop>("rmsprop", RMSpropOptions{.lr = 0.05});
  expect_like_pytorch<RMSprop>(
      "rmsprop_decay", RMSpropOptions{.lr = 0.05, .alpha = 0.9, .epsilon = 1e-6, .weight_decay = 0.2});
}

TEST(RMSprop, matches_pytorch_with_momentum_and_centered) {
  expect_like_pytorch<RMSprop>("rmsprop_momentum", RMSpropOptions{.lr = 0.02, .alpha = 0.9, .momentum = 0.8});
  expect_like_pytorch<RMSprop>("rmsprop_centered",
                               RMSpropOptions{.lr = 0.05, .alpha = 0.9, .centered = true});
  expect_like_pytorch<RMSprop>(
      "rmsprop_all",
      RMSpropOptions{
          .lr = 0.02, .alpha = 0.9, .epsilon = 1e-4, .weight_decay = 0.1, .momentum = 0.7, .centered = true});
}

TEST(RMSprop, centered_stays_finite_where_the_gradient_never_changes) {
  Variable p(zeros({64}), true);
  RMSprop rmsprop({{"w", p}}, {.lr = 1e-3, .alpha = 0.5, .epsilon = 1e-3, .centered = true});
  for (int step = 0; step < 200; ++step) {
    p.set_grad(random_tensor({64}));
    rmsprop.step();
  }
  EXPECT_TRUE(kernels::all_finite(p.data()));
}

TEST(RMSprop, names_bad_options) {
  const auto expect_refused = [](const RMSpropOptions& options, const std::string& message) {
    expect_error<ValueError>([&] { RMSprop({}, options); }, "[optimizer] wanted " + message);
  };
  expect_refused({.lr = -1}, "lr in [0, inf), came -1");
  expect_refused({.alpha = 1}, "alpha in [0, 1), came 1");
  expect_refused({.epsilon = -1}, "epsilon in [0, inf), came -1");
  expect_refused({.weight_decay = -1}, "weight_decay in [0, inf), came -1");
  expect_refused({.momentum = 1}, "momentum in [0, 1), came 1");
}
