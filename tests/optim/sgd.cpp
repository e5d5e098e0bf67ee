#include <heed/optim/sgd.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;
using optim::SGD;
using optim::SGDOptions;

TEST(SGD, matches_pytorch_over_twenty_steps) {
  expect_like_pytorch<SGD>("sgd", SGDOptions{.lr = 0.1});
  expect_like_pytorch<SGD>("sgd_decay", SGDOptions{.lr = 0.1, .weight_decay = 0.2});
}

TEST(SGD, matches_pytorch_with_momentum) {
  expect_like_pytorch<SGD>("sgd_momentum", SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1});
  expect_like_pytorch<SGD>("sgd_dampening", SGDOptions{.lr = 0.05, .momentum = 0.8, .dampening = 0.3});
  expect_like_pytorch<SGD>("sgd_nesterov",
                           SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
}

TEST(SGD, keeps_a_velocity_only_with_momentum) {
  const Variable p = with_grad(tensor_of({1, 2}), tensor_of({3, 4}));
  SGD plain({{"w", p}}), moving({{"w", p}}, {.momentum = 0.5});
  plain.step();
  moving.step();
  EXPECT_FALSE(plain.state_dict().contains("w/velocity"));
  EXPECT_TRUE(close(moving.state_dict().at("w/velocity"), {3, 4}, kExact));
}

TEST(SGD, a_group_without_momentum_goes_along_the_whole_gradient) {
  Variable p(tensor_of({1}), true);
  SGD sgd({{"w", p}}, {.lr = 0.5, .momentum = 0.9, .dampening = 0.5});
  sgd.add_group({.name = "still", .parameters = {"w"}, .options = {{"momentum", 0}}});
  for (int step = 0; step < 3; ++step) p.set_grad(tensor_of({2})), sgd.step();
  EXPECT_TRUE(close(p.data(), {-2}, kExact));
}

TEST(SGD, names_bad_options) {
  const auto expect_refused = [](const SGDOptions& options, const std::string& message) {
    expect_error<ValueError>([&] { SGD({}, options); }, message);
  };
  expect_refused({.lr = -1}, "[optimizer] wanted lr in [0, inf), came -1");
  expect_refused({.momentum = 1}, "[optimizer] wanted momentum in [0, 1), came 1");
  expect_refused({.momentum = -0.1}, "[optimizer] wanted momentum in [0, 1), came -0.1");
  expect_refused({.momentum = 0.5, .dampening = 1}, "[optimizer] wanted dampening in [0, 1), came 1");
  expect_refused({.weight_decay = -1}, "[optimizer] wanted weight_decay in [0, inf), came -1");
  expect_refused({.nesterov = true}, "[sgd] dampening and Nesterov's rule want momentum, and there is none");
  expect_refused({.dampening = 0.5}, "[sgd] dampening and Nesterov's rule want momentum, and there is none");
  expect_refused({.momentum = 0.9, .dampening = 0.1, .nesterov = true},
                 "[sgd] Nesterov's rule wants no dampening, came 0.1");
}

TEST(SGD, refuses_the_state_of_another_rule) {
  const Variable p = with_grad(tensor_of({1, 2}), tensor_of({3, 4}));
  SGD plain({{"w", p}}), moving({{"w", p}}, {.momentum = 0.5}),
      nesterov({{"w", p}}, {.momentum = 0.5, .nesterov = true});
  expect_error<ValueError>([&] { plain.load_state_dict(moving.state_dict()); },
                           "[optimizer] wanted the state of sgd, came that of sgd_momentum");
  expect_error<ValueError>([&] { moving.load_state_dict(nesterov.state_dict()); },
                           "[optimizer] wanted the state of sgd_momentum, came that of sgd_nesterov");
}
