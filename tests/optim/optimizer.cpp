#include <heed/optim/optimizer.h>

#include <cmath>

#include <heed/autograd/ops.h>
#include <heed/nn/embedding.h>
#include <heed/nn/linear.h>
#include <heed/nn/loss.h>
#include <heed/tensor/kernels/arithmetic.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// The plainest rule there is: p -= lr g.
class Descent : public optim::Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  void update(Tensor& parameter, const Tensor& grad, optim::ParameterState&) override {
    kernels::add_into(parameter, grad, -lr());
  }
};

/// p -= lr speed, where speed = share speed + g.
class Heavy : public optim::Optimizer {
 public:
  Heavy(const NamedVariables& parameters, double lr, double share)
      : Optimizer(parameters, lr), share_(share) {
    option("share", share_, 0, 1);
    state_tensor("speed");
  }

 protected:
  void update(Tensor& parameter, const Tensor& grad, optim::ParameterState& state) override {
    Tensor& speed = state.tensors.at("speed");
    kernels::scale_into(speed, share_);
    kernels::add_into(speed, grad);
    kernels::add_into(parameter, speed, -lr());
  }

 private:
  double share_;
};

/// A model whose embedding and output layer share one matrix.
class TiedModel : public nn::Layer<TiedModel> {
 public:
  TiedModel() : embedding_({.rows = 5, .width = 3}) {
    child("embedding", embedding_);
    output_ = parameter("output", embedding_.weight());
  }
  Variable forward(const Tensor& words) { return linear(embedding_(words), output_); }

 private:
  nn::Embedding embedding_;
  Variable output_;
};

/// Loads the optimizer's own state with one entry replaced, or left out, and another option: all of it must
/// be refused.
template <class E>
void expect_refused(Heavy& optimizer, const std::string& key, const Tensor& value,
                    const std::string& message) {
  const StateDict before = optimizer.state_dict();
  StateDict state = before;
  state.erase(key);
  if (value.defined()) state.emplace(key, value);
  state.at(key == "lr" ? "share" : "lr") = scalar(0.7, DType::f64);
  expect_error<E>([&] { optimizer.load_state_dict(state); }, message);
  EXPECT_TRUE(same_numbers(optimizer.state_dict(), before));
}

}  // namespace

TEST(Optimizer, moves_each_parameter_by_its_rule) {
  const Variable a = with_grad(tensor_of({1, 2}), tensor_of({10, 20}));
  const Variable b = with_grad(tensor_of({{3}}), tensor_of({{-1}}));
  Descent optimizer(named({a, b}), 0.5);
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {-4, -8}, kExact));
  EXPECT_TRUE(close(b.data(), {3.5}, kExact));
}

TEST(Optimizer, leaves_a_parameter_without_a_gradient_alone) {
  const Variable a(tensor_of({1, 2}), true), b = with_grad(tensor_of({3}), tensor_of({1}));
  Heavy optimizer(named({a, b}), 1, 0.5);
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {1, 2}, kExact));
  EXPECT_TRUE(close(b.data(), {2}, kExact));
  EXPECT_FALSE(optimizer.state_dict().contains("p0/steps"));
  EXPECT_EQ(optimizer.state_dict().at("p1/steps").item(), 1);
}

TEST(Optimizer, zero_grad_drops_the_gradients) {
  const Variable a = with_grad(tensor_of({1}), tensor_of({1}));
  Descent optimizer(named({a}), 1);
  optimizer.zero_grad();
  EXPECT_FALSE(a.grad().defined());
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {1}, kExact));
}

TEST(Optimizer, takes_a_new_learning_rate) {
  const Variable a = with_grad(tensor_of({1}), tensor_of({1}));
  Descent optimizer(named({a}), 1);
  EXPECT_EQ(optimizer.lr(), 1);
  optimizer.set_lr(0.25);
  EXPECT_EQ(optimizer.lr(), 0.25);
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {0.75}, kExact));
  for (const double lr : {-0.1, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    const std::string message = fmt::format("[optimizer] wanted lr in [0, inf), came {}", lr);
    expect_error<ValueError>([&] { optimizer.set_lr(lr); }, message);
    expect_error<ValueError>([&] { Descent(named({a}), lr); }, message);
  }
  EXPECT_EQ(optimizer.lr(), 0.25);
}

TEST(Optimizer, of_ones_own_has_groups_of_its_options) {
  const Variable a = with_grad(tensor_of({0}), tensor_of({-1})),
                 b = with_grad(tensor_of({0}), tensor_of({-1}));
  Heavy optimizer(named({a, b}), 1, 0.5);
  optimizer.add_group({.name = "light", .parameters = {"p1"}, .options = {{"share", 0}, {"lr_scale", 2}}});
  optimizer.step();
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {2.5}, kExact));
  EXPECT_TRUE(close(b.data(), {4}, kExact));
  EXPECT_EQ(optimizer.lr(), 1);
  expect_error<ValueError>(
      [&] {
        optimizer.add_group({.name = "g", .parameters = {"p0"}, .options = {{"mass", 1}}});
      },
      "[optimizer] group \"g\": wanted options out of lr_scale, share; came \"mass\"");
}

TEST(Optimizer, refuses_two_parameters_of_one_name) {
  const Variable a(ones({1}), true), b(ones({1}), true);
  expect_error<ValueError>(
      [&] {
        Descent({{"w", a}, {"w", b}}, 1);
      },
      "[optimizer] two parameters have the name \"w\"");
}

TEST(Optimizer, refuses_an_option_out_of_range) {
  expect_error<ValueError>([] { Heavy({}, 1, 1); }, "[optimizer] wanted share in [0, 1), came 1");
  expect_error<ValueError>([] { Heavy({}, 1, -0.5); }, "[optimizer] wanted share in [0, 1), came -0.5");
}

TEST(Optimizer, its_state_holds_options_steps_and_tensors_by_name) {
  const Variable a = with_grad(tensor_of({1, 2}), tensor_of({3, 4}));
  Heavy optimizer({{"layer.weight", a}}, 0.1, 0.5);
  EXPECT_EQ(optimizer.state_dict().size(), 2u);
  optimizer.step();
  optimizer.step();
  const StateDict state = optimizer.state_dict();
  EXPECT_EQ(state.size(), 4u);
  EXPECT_EQ(state.at("lr").item(), 0.1);
  EXPECT_EQ(state.at("share").item(), 0.5);
  EXPECT_EQ(state.at("layer.weight/steps").item(), 2);
  EXPECT_EQ(state.at("layer.weight/steps").dtype(), DType::i64);
  EXPECT_TRUE(close(state.at("layer.weight/speed"), {4.5, 6}, kExact));
}

TEST(Optimizer, goes_on_from_a_state_to_the_last_bit) {
  const auto gradient = [](int step) { return random_tensor({3}, static_cast<uint64_t>(step)); };
  Variable straight(ones({3}), true), stopped(ones({3}), true);
  Heavy one(named({straight}), 0.1, 0.9), two(named({stopped}), 0.1, 0.9);
  const auto run = [&](optim::Optimizer& optimizer, Variable& parameter, int from, int to) {
    for (int step = from; step < to; ++step) parameter.set_grad(gradient(step)), optimizer.step();
  };
  run(one, straight, 0, 6);
  run(two, stopped, 0, 3);
  const TempDir folder;
  save_safetensors(folder.file("state.safetensors"), two.state_dict());
  Heavy other(named({stopped}), 5, 0.2);
  other.load_state_dict(load_safetensors(folder.file("state.safetensors")).tensors);
  EXPECT_EQ(other.lr(), 0.1);
  run(other, stopped, 3, 6);
  EXPECT_TRUE(identical(stopped.data(), straight.data()));
}

TEST(Optimizer, a_loaded_state_forgets_what_was_before) {
  const Variable a = with_grad(tensor_of({1}), tensor_of({1}));
  Heavy optimizer(named({a}), 1, 0.5);
  const StateDict fresh = optimizer.state_dict();
  optimizer.step();
  optimizer.load_state_dict(fresh);
  EXPECT_EQ(optimizer.state_dict().size(), 2u);
  optimizer.step();
  EXPECT_TRUE(close(a.data(), {-1}, kExact));  // not -1.5, as with the speed of before
}

TEST(Optimizer, a_loaded_state_is_a_copy) {
  const Variable a = with_grad(tensor_of({1}), tensor_of({1})), b = with_grad(tensor_of({1}), tensor_of({1}));
  Heavy one(named({a}), 1, 0.5), two(named({b}), 1, 0.5);
  one.step();
  two.load_state_dict(one.state_dict());
  two.step();
  EXPECT_TRUE(close(one.state_dict().at("p0/speed"), {1}, kExact));
  EXPECT_TRUE(close(two.state_dict().at("p0/speed"), {1.5}, kExact));
}

TEST(Optimizer, refuses_a_state_that_does_not_fit_and_keeps_its_own) {
  const Variable a = with_grad(tensor_of({1, 2}), tensor_of({3, 4})), b(ones({1}), true);
  Heavy optimizer(named({a, b}), 0.1, 0.5);
  optimizer.step();
  expect_refused<ValueError>(optimizer, "lr", {}, "[optimizer] its state lacks \"lr\"");
  expect_refused<ValueError>(optimizer, "share", {}, "[optimizer] its state lacks \"share\"");
  expect_refused<ValueError>(optimizer, "share", scalar(1, DType::f64), "wanted share in [0, 1), came 1");
  expect_refused<ValueError>(optimizer, "lr", scalar(NAN, DType::f64), "wanted lr in [0, inf), came nan");
  expect_refused<ShapeError>(optimizer, "share", ones({2}, DType::f64),
                             "wanted \"share\" to be one f64, came f64(2,)");
  expect_refused<ValueError>(optimizer, "p0/speed", {}, "[optimizer] its state lacks \"p0/speed\"");
  expect_refused<ShapeError>(optimizer, "p0/speed", ones({3}),
                             "wanted \"p0/speed\" as f32(2,), came f32(3,)");
  expect_refused<ShapeError>(optimizer, "p0/speed", ones({2}, DType::f64), "as f32(2,), came f64(2,)");
  expect_refused<ValueError>(optimizer, "p0/steps", {},
                             "[optimizer] its state has an unexpected \"p0/speed\"");
  expect_refused<ValueError>(optimizer, "p0/steps", scalar(0, DType::i64),
                             "wanted \"p0/steps\" to be 1 or more, came 0");
  expect_refused<ShapeError>(optimizer, "p0/steps", scalar(1),
                             "wanted \"p0/steps\" to be one i64, came f32()");
  expect_refused<ValueError>(optimizer, "p1/steps", scalar(1, DType::i64), "its state lacks \"p1/speed\"");
  expect_refused<ValueError>(optimizer, "p7/steps", scalar(1, DType::i64), "an unexpected \"p7/steps\"");
  expect_refused<ValueError>(optimizer, "p0/mass", ones({2}), "an unexpected \"p0/mass\"");
}

TEST(case_C25, f_a_parameter_given_twice_moves_once) {
  const Variable p = with_grad(tensor_of({0}), tensor_of({1}));
  Descent optimizer({{"a", p}, {"b", p}}, 0.1);
  optimizer.step();
  EXPECT_TRUE(close(p.data(), {-0.1}, kF32));
}

TEST(case_C29, c_tied_weights_are_updated_once_after_loading) {
  const TempDir folder;
  const std::string path = folder.file("tied.safetensors");
  TiedModel saved, model;
  save_safetensors(path, saved.state_dict());
  model.load_state_dict(load_safetensors(path).tensors);
  ASSERT_EQ(model.parameters().size(), 1u);
  const Tensor before = model.parameters()[0].data().clone();
  nn::cross_entropy(model(ids({0, 3})), ids({1, 2})).backward();
  const Tensor gradient = model.parameters()[0].grad().data().clone();
  Descent optimizer(model.named_parameters(), 0.5);
  optimizer.step();
  Tensor wanted = before.clone();
  kernels::add_into(wanted, gradient, -0.5);
  EXPECT_TRUE(close(model.parameters()[0].data(), wanted, kF32));
  EXPECT_FALSE(close(wanted, before, {.absolute = 1e-3}));
}

TEST(case_C27, a_the_mean_over_tokens_is_the_same_in_one_batch_and_in_several) {
  // Two classes with logits (x, 0) lose log(1 + exp(-x)) on the first: any loss can be had. Bias starts at 0.
  const auto logits_of = [](const std::vector<double>& losses) {
    Tensor x = zeros({static_cast<int64_t>(losses.size()), 2});
    for (size_t i = 0; i < losses.size(); ++i)
      x.set({static_cast<int64_t>(i), 0}, -std::log(std::exp(losses[i]) - 1));
    return x;
  };
  const std::vector<double> first{4}, second{1, 1, 2}, all{4, 1, 1, 2};
  const auto targets = [](const std::vector<double>& losses) {
    return zeros({static_cast<int64_t>(losses.size())}, DType::i64);
  };
  const auto step = [&](const std::vector<std::vector<double>>& batches, double& loss) {
    const Variable bias(zeros({2}), true);
    Descent optimizer({{"bias", bias}}, 0.1);
    for (const auto& batch : batches) {
      const Variable part = cross_entropy_losses(logits_of(batch) + bias, targets(batch)).sum() /
                            static_cast<double>(all.size());
      part.backward();
      loss += part.item();
    }
    optimizer.step();
    return bias.data();
  };
  double whole_loss = 0, parts_loss = 0;
  const Tensor whole = step({all}, whole_loss), parts = step({first, second}, parts_loss);
  EXPECT_NEAR(whole_loss, 2, 1e-5);
  EXPECT_NEAR(parts_loss, 2, 1e-5);
  EXPECT_TRUE(close(parts, whole, {.relative = 1e-6}));
  EXPECT_NEAR(nn::cross_entropy(logits_of(all), targets(all)).item(), 2, 1e-5);
}

TEST(case_C27, b_padding_is_not_in_the_denominator) {
  Tensor logits = zeros({1, 4, 2});
  logits.select(2, 0).fill(-std::log(std::exp(2.0) - 1));
  EXPECT_NEAR(nn::cross_entropy(logits, ids({{0, 0, 1, 1}}), {.ignore_index = 1}).item(), 2, 1e-5);
}
