#include <heed/optim/adam.h>
#include <heed/optim/sgd.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// A layer norm and a linear layer, as names go.
NamedVariables layers() {
  NamedVariables parameters;
  for (const char* name : {"linear.weight", "linear.bias", "norm.weight", "norm.bias"})
    parameters.emplace_back(name, with_grad(tensor_of({1, 2}), tensor_of({0, 0})));
  return parameters;
}

const optim::ParameterGroup kNoDecay{
    .name = "no_decay", .parameters = {"norm.*", "linear.bias"}, .options = {{"weight_decay", 0}}};

void expect_values(const NamedVariables& parameters, const std::vector<double>& first_elements) {
  for (size_t i = 0; i < parameters.size(); ++i)
    EXPECT_NEAR(parameters[i].second.data().at({0}), first_elements[i], 1e-6) << parameters[i].first;
}

}  // namespace

TEST(ParameterGroups, match_pytorch) {
  expect_steps_like_pytorch("optimizers.safetensors", "groups", [](const NamedVariables& parameters) {
    auto adam =
        std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions{.lr = 0.05, .weight_decay = 0.5});
    adam->add_group(
        {.name = "second", .parameters = {"p1"}, .options = {{"weight_decay", 0}, {"lr_scale", 0.5}}});
    return adam;
  });
}

TEST(ParameterGroups, patterns_spare_norms_and_biases_the_decay) {
  const NamedVariables parameters = layers();
  optim::AdamW adam(parameters, {.lr = 0.1, .weight_decay = 0.5});
  adam.add_group(kNoDecay);
  adam.step();
  expect_values(parameters, {0.95, 1, 1, 1});
}

TEST(ParameterGroups, stars_stand_for_any_letters) {
  const auto expect_matched = [](const std::string& pattern, const std::vector<double>& wanted) {
    const NamedVariables parameters = layers();
    optim::AdamW adam(parameters, {.lr = 0.1, .weight_decay = 0.5});
    adam.add_group({.name = "g", .parameters = {pattern}, .options = {{"weight_decay", 0}}});
    adam.step();
    expect_values(parameters, wanted);
  };
  expect_matched("*", {1, 1, 1, 1});
  expect_matched("*.bias", {0.95, 1, 0.95, 1});
  expect_matched("*n*.*s", {0.95, 1, 0.95, 1});
  expect_matched("norm.weight", {0.95, 0.95, 1, 0.95});
  expect_matched("norm*t", {0.95, 0.95, 1, 0.95});
  expect_matched("norm.weight*", {0.95, 0.95, 1, 0.95});
}

TEST(ParameterGroups, follow_the_common_learning_rate) {
  Variable a(tensor_of({0}), true), b(tensor_of({0}), true);
  optim::SGD sgd({{"a", a}, {"b", b}}, {.lr = 1});
  sgd.add_group({.name = "slow", .parameters = {"b"}, .options = {{"lr_scale", 0.1}}});
  const auto step = [&] { a.set_grad(tensor_of({-1})), b.set_grad(tensor_of({-1})), sgd.step(); };
  step();
  sgd.set_lr(0);
  step();
  sgd.set_lr(0.5);
  step();
  EXPECT_EQ(sgd.lr(), 0.5);
  EXPECT_TRUE(close(a.data(), {1.5}, kF32));
  EXPECT_TRUE(close(b.data(), {0.15}, kF32));
}

TEST(ParameterGroups, are_saved_and_loaded_by_name) {
  const TempDir folder;
  const NamedVariables parameters = layers(), others = layers();
  optim::AdamW saved(parameters, {.lr = 0.1, .weight_decay = 0.5}), loaded(others, {.weight_decay = 0});
  saved.add_group(kNoDecay);
  saved.add_group({.name = "slow", .parameters = {"linear.weight"}, .options = {{"lr_scale", 0.5}}});
  EXPECT_EQ(saved.state_dict().at("group:slow/lr_scale").item(), 0.5);
  save_safetensors(folder.file("state"), saved.state_dict());
  loaded.add_group({.name = "slow", .parameters = {"linear.weight"}, .options = {{"lr_scale", 7}}});
  loaded.add_group({.name = "no_decay", .parameters = kNoDecay.parameters, .options = {{"weight_decay", 9}}});
  loaded.load_state_dict(load_safetensors(folder.file("state")).tensors);
  loaded.step();
  expect_values(others, {0.975, 1, 1, 1});
}

TEST(ParameterGroups, a_state_with_other_groups_is_refused_and_changes_nothing) {
  optim::AdamW plain(layers(), {.lr = 0.1}), grouped(layers(), {.lr = 0.2});
  grouped.add_group(kNoDecay);
  const StateDict before = plain.state_dict(), grouped_before = grouped.state_dict();
  expect_error<ValueError>([&] { plain.load_state_dict(grouped_before); },
                           "[optimizer] its state has an unexpected \"group:no_decay/weight_decay\"");
  expect_error<ValueError>([&] { grouped.load_state_dict(before); },
                           "[optimizer] its state lacks \"group:no_decay/weight_decay\"");
  StateDict bad = grouped_before;
  bad.at("group:no_decay/weight_decay") = scalar(-1, DType::f64);
  bad.at("lr") = scalar(7, DType::f64);
  expect_error<ValueError>([&] { grouped.load_state_dict(bad); }, "weight_decay in [0, inf), came -1");
  EXPECT_TRUE(same_numbers(plain.state_dict(), before));
  EXPECT_TRUE(same_numbers(grouped.state_dict(), grouped_before));
}

TEST(ParameterGroups, a_state_with_other_members_is_refused) {
  optim::AdamW all(layers(), {.lr = 0.1}), some(layers(), {.lr = 0.1});
  all.add_group(kNoDecay);
  some.add_group({.name = "no_decay", .parameters = {"norm.*"}, .options = {{"weight_decay", 0}}});
  expect_error<ValueError>([&] { some.load_state_dict(all.state_dict()); },
                           "[optimizer] its state has an unexpected \"linear.bias/group:no_decay\"");
  expect_error<ValueError>([&] { all.load_state_dict(some.state_dict()); },
                           "[optimizer] its state lacks \"linear.bias/group:no_decay\"");
}

TEST(ParameterGroups, refuse_what_does_not_fit_and_change_nothing) {
  const NamedVariables parameters = layers();
  optim::AdamW adam(parameters, {.lr = 0.1, .weight_decay = 0.5});
  adam.add_group(kNoDecay);
  const auto expect_refused = [&](const optim::ParameterGroup& group, const std::string& message) {
    expect_error<ValueError>([&] { adam.add_group(group); }, message);
  };
  expect_refused({.parameters = {"*"}}, "[optimizer] a group has no name");
  expect_refused({.name = "no_decay"}, "[optimizer] two groups have the name \"no_decay\"");
  expect_refused({.name = "g", .parameters = {"linear.weight", "*.scale"}},
                 "[optimizer] group \"g\": none of 4 parameters is called \"*.scale\"");
  expect_refused({.name = "g", .parameters = {"linear.*"}, .options = {{"weight_decay", 0}}},
                 "[optimizer] group \"g\": \"linear.bias\" is in group \"no_decay\" already");
  expect_refused(
      {.name = "g", .parameters = {"linear.weight"}, .options = {{"lr", 1}}},
      "[optimizer] group \"g\": wanted options out of lr_scale, beta1, beta2, epsilon, weight_decay; "
      "came \"lr\"");
  expect_refused({.name = "g", .parameters = {"linear.weight"}, .options = {{"beta1", 1}}},
                 "wanted beta1 in [0, 1), came 1");
  adam.step();
  expect_values(parameters, {0.95, 1, 1, 1});
}
