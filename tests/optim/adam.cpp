#include <heed/optim/adam.h>

#include <cmath>

#include <heed/nn/bahdanau.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/optim/clip.h>
#include <heed/optim/sgd.h>
#include <heed/tensor/threads.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

constexpr optim::AdamOptions kWithDecay{
    .lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.2};

/// The four steps of case C23, in f64: where the parameter is after each.
const std::vector<double> kGradients{1, 0.5, -0.25, 0.5};
const std::vector<double> kPath{0.900000001, 0.8067820383, 0.7504159015, 0.6848363785};

void expect_path(optim::Optimizer& optimizer, Variable& p, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    p.set_grad(full({1}, kGradients[i], DType::f64));
    optimizer.step();
    EXPECT_NEAR(p.data().item(), kPath[i], 1e-9) << i;
  }
}

/// All weights after some steps of training from a seed, dropout included.
std::vector<Tensor> trained(nn::EncoderDecoder& model, int steps) {
  optim::Adam adam(model.named_parameters(), {.lr = 0.01});
  Generator data(3);
  for (int step = 0; step < steps; ++step) {
    const Tensor source = rand_integers({16, 6}, 0, 40, data), target = rand_integers({16, 6}, 0, 30, data);
    const Tensor lengths = rand_integers({16}, 1, 7, data);
    adam.zero_grad();
    nn::cross_entropy(model(source, lengths, target), target).backward();
    optim::clip_grad_norm(model.parameters(), 1);
    adam.step();
  }
  std::vector<Tensor> weights;
  for (const Variable& parameter : model.parameters()) weights.push_back(parameter.data());
  return weights;
}

std::vector<Tensor> trained_transformer(int steps) {
  manual_seed(1);
  nn::TransformerModel model(
      {.source_vocabulary = 40,
       .target_vocabulary = 30,
       .stack = {.width = 32, .feed_forward = 64, .heads = 4, .layers = 1, .dropout = 0.1}});
  return trained(model, steps);
}

std::vector<Tensor> trained_bahdanau(int steps) {
  manual_seed(1);
  nn::Bahdanau model({.source_vocabulary = 40, .target_vocabulary = 30, .width = 32, .dropout = 0.1});
  return trained(model, steps);
}

}  // namespace

TEST(Adam, matches_pytorch_over_twenty_steps) {
  expect_like_pytorch<optim::Adam>("adam", optim::AdamOptions{.lr = 0.1}, "optim.safetensors");
}

TEST(Adam, matches_pytorch_with_weight_decay) {
  expect_like_pytorch<optim::Adam>("adam_decay", kWithDecay, "optim.safetensors");
}

TEST(Adam, matches_pytorch_as_amsgrad) {
  expect_like_pytorch<optim::Adam>(
      "adam_amsgrad",
      optim::AdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.1, .amsgrad = true});
}

TEST(AdamW, matches_pytorch_over_twenty_steps) {
  expect_like_pytorch<optim::AdamW>("adamw", optim::AdamWOptions{.lr = 0.1});
  expect_like_pytorch<optim::AdamW>(
      "adamw_decay",
      optim::AdamWOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.5});
  expect_like_pytorch<optim::AdamW>(
      "adamw_amsgrad",
      optim::AdamWOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5, .amsgrad = true});
}

TEST(Adam, names_bad_options) {
  const auto expect_refused = [](const optim::AdamOptions& options, const std::string& message) {
    expect_error<ValueError>([&] { optim::Adam({}, options); }, "[optimizer] wanted " + message);
  };
  expect_refused({.lr = -1}, "lr in [0, inf), came -1");
  expect_refused({.beta1 = 1}, "beta1 in [0, 1), came 1");
  expect_refused({.beta2 = -0.1}, "beta2 in [0, 1), came -0.1");
  expect_refused({.beta2 = NAN}, "beta2 in [0, 1), came nan");
  expect_refused({.epsilon = -1e-8}, "epsilon in [0, inf), came -1e-08");
  expect_refused({.weight_decay = -0.5}, "weight_decay in [0, inf), came -0.5");
}

TEST(Adam, its_state_has_all_options_and_both_moments) {
  const Variable p = with_grad(tensor_of({1, 2}), tensor_of({1, -2}));
  optim::Adam adam({{"w", p}}, kWithDecay);
  adam.step();
  const StateDict state = adam.state_dict();
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : state) keys.push_back(key);
  const std::vector<std::string> wanted{"beta1", "beta2",   "epsilon", "kind:adam",   "lr",
                                        "w/m",   "w/steps", "w/v",     "weight_decay"};
  EXPECT_EQ(keys, wanted);
  EXPECT_EQ(state.at("beta2").item(), 0.95);
  EXPECT_TRUE(close(state.at("w/m"), {0.2 * 1.2, 0.2 * -1.6}, kF32));  // of the gradient with its decay
  EXPECT_TRUE(close(state.at("w/v"), {0.05 * 1.44, 0.05 * 2.56}, kF32));
}

TEST(Adam, refuses_the_state_of_another_optimizer_and_keeps_its_own) {
  const Variable p = with_grad(tensor_of({1, 2}), tensor_of({1, -2}));
  optim::Adam adam({{"w", p}}), amsgrad({{"w", p}}, {.amsgrad = true});
  optim::AdamW adamw({{"w", p}});
  optim::SGD sgd({{"w", p}}, {.momentum = 0.9});
  adam.step(), amsgrad.step(), adamw.step(), sgd.step();
  const StateDict before = adam.state_dict();
  const auto expect_refused = [&](const StateDict& state, const std::string& kind) {
    expect_error<ValueError>([&] { adam.load_state_dict(state); },
                             "[optimizer] wanted the state of adam, came that of " + kind);
    EXPECT_TRUE(same_numbers(adam.state_dict(), before));
  };
  expect_refused(adamw.state_dict(), "adamw");
  expect_refused(amsgrad.state_dict(), "adam_amsgrad");
  expect_refused(sgd.state_dict(), "sgd_momentum");
  expect_refused({}, "another kind of optimizer");
  expect_refused({{"w", ones({2})}}, "another kind of optimizer");
}

TEST(case_C23, adam_goes_this_way) {
  Variable p(ones({1}, DType::f64), true);
  optim::Adam adam(named({p}), {.lr = 0.1});
  expect_path(adam, p, 0, 4);
}

TEST(case_C23, adam_goes_the_same_way_when_resumed_under_other_options) {
  const TempDir folder;
  const std::string weights = folder.file("weights.safetensors"), state = folder.file("state.safetensors");
  {
    Variable p(ones({1}, DType::f64), true);
    optim::Adam adam(named({p}), {.lr = 0.1});
    expect_path(adam, p, 0, 2);
    save_safetensors(weights, {{"p0", p.data()}});
    save_safetensors(state, adam.state_dict());
  }
  Variable p(load_safetensors(weights).tensors.at("p0"), true);
  optim::Adam adam(named({p}), {.lr = 3, .beta1 = 0.5, .beta2 = 0.5, .epsilon = 0.1, .weight_decay = 0.5});
  adam.load_state_dict(load_safetensors(state).tensors);
  EXPECT_EQ(adam.lr(), 0.1);
  expect_path(adam, p, 2, 4);
}

TEST(case_C23, adam_refuses_a_state_of_another_shape) {
  Variable p(ones({1}, DType::f64), true), wide(ones({2}, DType::f64), true);
  optim::Adam adam(named({p}), {.lr = 0.1}), other(named({wide}), {.lr = 0.1});
  expect_path(adam, p, 0, 2);
  expect_error<ShapeError>([&] { other.load_state_dict(adam.state_dict()); },
                           "[optimizer] wanted \"p0/m\" as f64(2,), came f64(1,)");
}

TEST(case_C23, adam_knows_parameters_by_name_and_not_by_place) {
  const auto gradients = [](int step) {
    return std::array{random_tensor({2}, 2 * step), random_tensor({2}, 2 * step + 1)};
  };
  Variables straight{Variable(ones({2}), true), Variable(zeros({2}), true)};
  Variables stopped{Variable(ones({2}), true), Variable(zeros({2}), true)};
  const auto run = [&](optim::Optimizer& optimizer, Variables& parameters, int from, int to) {
    for (int step = from; step < to; ++step) {
      // The second one has its first gradient later, and so has taken fewer steps.
      for (size_t i = 0; i < (step < 2 ? 1u : 2u); ++i) parameters[i].set_grad(gradients(step)[i]);
      optimizer.step();
    }
  };
  optim::Adam whole(named(straight)), first(named(stopped));
  run(whole, straight, 0, 6);
  run(first, stopped, 0, 4);
  optim::Adam turned({{"p1", stopped[1]}, {"p0", stopped[0]}});
  turned.load_state_dict(first.state_dict());
  run(turned, stopped, 4, 6);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(identical(stopped[i].data(), straight[i].data())) << i;
}

TEST(case_C19, d_the_padding_row_stays_zero_through_steps_with_decay) {
  nn::Embedding table({.rows = 10, .width = 8, .padding = 0});
  Tensor sentence = zeros({1, 769}, DType::i64);
  sentence.set({0, 0}, 3);
  optim::AdamW optimizer(table.named_parameters(), {.lr = 0.1, .weight_decay = 0.1});
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    table(sentence).sum().backward();
    optimizer.step();
  }
  EXPECT_TRUE(identical(table.weight().data().select(0, 0).clone(), zeros({8})));
}

TEST(case_C25, g_decay_needs_a_gradient) {
  Variable p(tensor_of({2}), true);
  optim::Adam adam(named({p}), {.lr = 0.1, .weight_decay = 0.1});
  adam.step();
  EXPECT_TRUE(close(p.data(), {2}, kExact));
  p.set_grad(zeros({1}));
  adam.step();
  EXPECT_TRUE(close(p.data(), {1.9}, kF32));  // as an L2 penalty: a first step of Adam has length lr
}

TEST(case_C25, g_decoupled_decay_needs_a_gradient) {
  Variable p(tensor_of({2}), true);
  optim::AdamW adam(named({p}), {.lr = 0.1, .weight_decay = 0.1});
  adam.step();
  EXPECT_TRUE(close(p.data(), {2}, kExact));
  p.set_grad(zeros({1}));
  adam.step();
  EXPECT_TRUE(close(p.data(), {1.98}, kF32));
}

TEST(case_C41, d_training_is_the_same_each_time) {
  const auto expect_same = [](const auto& train) {
    const std::vector<Tensor> first = train(50), second = train(50), shorter = train(49);
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(identical(first[i], second[i])) << i;
    EXPECT_FALSE(identical(first[0], shorter[0]));
  };
  expect_same(trained_transformer);
  expect_same(trained_bahdanau);
}

TEST(case_C41, d_training_is_the_same_for_one_thread_and_two) {
  const int before = num_threads();
  for (const auto& train : {trained_transformer, trained_bahdanau}) {
    set_num_threads(1);
    const std::vector<Tensor> one = train(50);
    set_num_threads(2);
    const std::vector<Tensor> two = train(50);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], two[i])) << i;
  }
  set_num_threads(before);
}
