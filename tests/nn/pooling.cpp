#include <heed/nn/pooling.h>

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::AttentionPooling;
using nn::Mask;

namespace {

/// A layer with the parameters and the numbers of PyTorch's case, whose inputs are queries, keys and values.
template <class Score>
void expect_pooling_like_pytorch(AttentionPooling<Score>& layer, const std::string& name) {
  expect_like_pytorch(layer, name, [&](const Variables& in, const auto& args) {
    const auto attended = layer.attend(in[0], in[1], in[2], Mask::valid_lengths(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

/// One of each score for queries and keys of width 3.
template <class F>
void for_each_score(F f) {
  AttentionPooling<nn::UniformScore> uniform;
  AttentionPooling<nn::KeyScore> key({.score = {.key_width = 3}});
  AttentionPooling<nn::GaussianScore> gaussian, learnable({.score = {.w = 1.5, .learnable = true}});
  AttentionPooling<nn::DotScore> dot, unscaled({.score = {.scaled = false}});
  AttentionPooling<nn::BilinearScore> bilinear({.score = {.query_width = 3, .key_width = 3}});
  AttentionPooling<nn::AdditiveScore> additive({.score = {.query_width = 3, .key_width = 3, .hidden = 4}});
  f(uniform), f(key), f(gaussian), f(learnable), f(dot), f(unscaled), f(bilinear), f(additive);
}

struct NearScoreOptions {
  double reach = 1;
};

class NearScore : public nn::Layer<NearScore> {
 public:
  using Options = NearScoreOptions;
  explicit NearScore(const Options& options) : reach_(options.reach) {}
  Variable forward(const Variable& q, const Variable& k) {
    return -sum(abs(q.unsqueeze(2) - k.unsqueeze(1)), {-1}) / reach_;
  }

 private:
  double reach_;
};

}  // namespace

TEST(Pooling, matches_pytorch_with_a_gaussian_kernel) {
  AttentionPooling<nn::GaussianScore> layer({.score = {.learnable = true}});
  expect_pooling_like_pytorch(layer, "gaussian_pooling");
}

TEST(Pooling, matches_pytorch_with_a_scaled_dot_product) {
  AttentionPooling<nn::DotScore> layer;
  expect_pooling_like_pytorch(layer, "dot_pooling");
}

TEST(Pooling, matches_pytorch_with_a_bilinear_score) {
  AttentionPooling<nn::BilinearScore> layer({.score = {.query_width = 4, .key_width = 3}});
  expect_pooling_like_pytorch(layer, "bilinear_pooling");
}

TEST(Pooling, matches_pytorch_with_a_score_of_keys_alone) {
  AttentionPooling<nn::KeyScore> layer({.score = {.key_width = 3}});
  expect_like_pytorch(layer, "key_pooling", [&](const Variables& in, const auto& args) {
    const auto attended = layer.attend(zeros({2, 4, 7}), in[0], in[1], Mask::valid_lengths(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

TEST(Pooling, of_a_uniform_score_is_the_average_of_what_is_seen) {
  AttentionPooling<nn::UniformScore> average;
  const Tensor v = tensor_of({{{1, 10}, {2, 20}, {6, 30}}, {{1, 2}, {3, 4}, {50, 60}}});
  const auto attended =
      average.attend(zeros({2, 1, 5}), zeros({2, 3, 4}), v, Mask::valid_lengths(ids({3, 2})));
  EXPECT_TRUE(close(attended.output.data(), {3, 20, 2, 3}, kF32));
  EXPECT_TRUE(close(attended.weights.data(), {1. / 3, 1. / 3, 1. / 3, 0.5, 0.5, 0}, kF32));
}

TEST(Pooling, by_the_largest_takes_each_column_of_what_is_seen) {
  nn::MaxPooling largest;
  const Variable v(tensor_of({{{1, 30}, {2, 20}, {9, 90}}, {{-1, -2}, {-3, -1}, {0, 0}}}), true);
  const Mask mask = Mask::valid_lengths(ids({{2, 3, 0}, {2, 1, 2}}));
  const Variable y = largest(zeros({2, 3, 1}), zeros({2, 3, 1}), v, mask);
  EXPECT_TRUE(close(y.data(), {2, 30, 9, 90, 0, 0, -1, -1, -1, -2, -1, -1}, kExact));
  y.sum().backward();
  EXPECT_TRUE(close(v.grad().data(), {0, 1, 1, 0, 1, 1, 3, 1, 0, 2, 0, 0}, kExact));
  EXPECT_TRUE(
      close(largest(zeros({1, 2, 1}), zeros({1, 0, 1}), zeros({1, 0, 3})).data(), zeros({1, 2, 3}), kExact));
}

TEST(Pooling, with_a_gaussian_kernel_is_the_regression_of_nadaraya_and_watson) {
  const std::vector<double> x{0, 1, 2.5}, y{1, -1, 4};
  constexpr double kQuery = 1.25, kW = 1.7;
  double above = 0, below = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double kernel = std::exp(-std::pow((kQuery - x[i]) * kW, 2) / 2);
    above += kernel * y[i], below += kernel;
  }
  AttentionPooling<nn::GaussianScore> fixed({.score = {.w = kW}}),
      learnable({.score = {.w = kW, .learnable = true}});
  const Tensor q = tensor_of({{{kQuery}}}), k = tensor_of({{{0}, {1}, {2.5}}}),
               v = tensor_of({{{1}, {-1}, {4}}});
  EXPECT_TRUE(close(fixed(q, k, v).data(), {above / below}, kF32));
  EXPECT_TRUE(close(learnable(q, k, v).data(), {above / below}, kF32));
  EXPECT_TRUE(fixed.named_parameters().empty());
  EXPECT_EQ(names_of(learnable.named_parameters()), std::vector<std::string>{"score.w"});
}

TEST(Pooling, with_a_wider_kernel_goes_from_the_average_to_the_nearest) {
  const Tensor q = tensor_of({{{0.9}}}), k = tensor_of({{{0}, {1}, {2}}}), v = tensor_of({{{3}, {6}, {9}}});
  AttentionPooling<nn::GaussianScore> wide({.score = {.w = 0}}), narrow({.score = {.w = 100}});
  EXPECT_TRUE(close(wide(q, k, v).data(), {6}, kF32));
  EXPECT_TRUE(close(wide(q, k, tensor_of({{{3}, {6}, {0}}})).data(), {3}, kF32));
  EXPECT_TRUE(close(narrow(q, k, v).data(), {6}, kF32));
  EXPECT_TRUE(close(narrow(q, k, tensor_of({{{3}, {7}, {0}}})).data(), {7}, kF32));
}

TEST(Pooling, equals_the_faster_forms_of_the_same_score) {
  const Variable q(random_tensor({2, 3, 4}, 1)), k(random_tensor({2, 5, 4}, 2)),
      v(random_tensor({2, 5, 6}, 3));
  const Mask mask = Mask::valid_lengths(ids({5, 2}));
  for (const bool scaled : {true, false}) {
    AttentionPooling<nn::DotScore> pooling({.score = {.scaled = scaled}});
    nn::DotProductAttention fused({.scaled = scaled});
    EXPECT_TRUE(close(pooling(q, k, v, mask).data(), fused(q, k, v, mask).data(), kF32));
  }
  AttentionPooling<nn::AdditiveScore> pooling({.score = {.query_width = 4, .key_width = 4, .hidden = 6}});
  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 6});
  StateDict state;
  for (const auto& [name, x] : additive.state_dict()) state.emplace("score." + name, x);
  pooling.load_state_dict(state);
  EXPECT_TRUE(identical(pooling(q, k, v, mask).data(), additive(q, k, v, mask).data()));
}

TEST(Pooling, with_a_bilinear_score_of_the_identity_is_the_dot_product) {
  AttentionPooling<nn::BilinearScore> bilinear({.score = {.query_width = 4, .key_width = 4}});
  AttentionPooling<nn::DotScore> dot({.score = {.scaled = false}});
  bilinear.load_state_dict({{"score.weight", eye(4, 4)}});
  const Variable q(random_tensor({2, 3, 4}, 1)), k(random_tensor({2, 5, 4}, 2));
  EXPECT_TRUE(close(bilinear(q, k, k).data(), dot(q, k, k).data(), kF32));
}

TEST(Pooling, has_gradients_that_differences_confirm) {
  for_each_score([](auto& layer) {
    layer.to(DType::f64);
    const Variable q = f64_leaf({2, 3, 3}, 1), k = f64_leaf({2, 4, 3}, 2), v = f64_leaf({2, 4, 2}, 3);
    expect_gradients(layer, {q, k, v}, [&] {
      const auto attended = layer.attend(q, k, v, Mask::valid_lengths(ids({4, 2})));
      return Variables{attended.output, attended.weights};
    });
  });
}

TEST(Pooling, has_second_derivatives) {
  for_each_score([](auto& layer) {
    layer.to(DType::f64);
    const Variables inputs{f64_leaf({2, 3, 3}, 1), f64_leaf({2, 4, 3}, 2), f64_leaf({2, 4, 2}, 3)};
    const auto report = gradgradcheck(
        [&](std::span<const Variable> at) {
          return Variables{layer(at[0], at[1], at[2], Mask::valid_lengths(ids({4, 2})))};
        },
        inputs);
    EXPECT_TRUE(report) << report.failure;
  });
}

TEST(Pooling, a_row_that_sees_nothing_has_weights_output_and_gradients_of_zero) {
  for_each_score([](auto& layer) {
    const Variable q(random_tensor({2, 3, 3}, 1), true), k(random_tensor({2, 4, 3}, 2), true),
        v(random_tensor({2, 4, 2}, 3), true);
    const auto attended = layer.attend(q, k, v, Mask::valid_lengths(ids({4, 0})));
    EXPECT_TRUE(close(attended.output.data().select(0, 1), zeros({3, 2}), kExact));
    EXPECT_TRUE(close(attended.weights.data().select(0, 1), zeros({3, 4}), kExact));
    (attended.output.sum() + attended.weights.sum()).backward();
    for (const Variable& x : {q, k, v})
      if (x.grad().defined()) {
        const Tensor grad = x.grad().data();
        EXPECT_TRUE(kernels::all_finite(grad));
        EXPECT_TRUE(close(grad.select(0, 1), zeros(grad.select(0, 1).shape()), kExact));
      }
    expect_finite_grads(layer);
  });
}

TEST(Pooling, the_order_of_keys_with_their_values_changes_nothing_and_padding_neither) {
  const std::vector<int64_t> order{3, 0, 2, 1};
  for_each_score([&](auto& layer) {
    const Tensor q = random_tensor({2, 3, 3}, 1), k = random_tensor({2, 4, 3}, 2),
                 v = random_tensor({2, 4, 2}, 3);
    EXPECT_TRUE(
        close(layer(q, reordered(k, 1, order), reordered(v, 1, order)).data(), layer(q, k, v).data(), kF32));
    const Mask mask = Mask::valid_lengths(ids({2, 2}));
    const Tensor wanted = layer(q, k, v, mask).data();
    EXPECT_TRUE(identical(layer(q, filled(k, 1, 2, 4, 30), filled(v, 1, 2, 4, 40), mask).data(), wanted));
    EXPECT_TRUE(close(layer(q, k.slice(1, 0, 2), v.slice(1, 0, 2)).data(), wanted, kF32));
  });
}

TEST(Pooling, weights_add_up_to_one_where_a_query_sees_anything_for_all_shapes) {
  EXPECT_TRUE(rc::check([] {
    const auto batch = *rc::gen::inRange<int64_t>(1, 4), queries = *rc::gen::inRange<int64_t>(1, 6),
               keys = *rc::gen::inRange<int64_t>(1, 9), width = *rc::gen::inRange<int64_t>(1, 4);
    const auto lengths = *rc::gen::container<std::vector<int64_t>>(static_cast<size_t>(batch),
                                                                   rc::gen::inRange<int64_t>(0, keys + 1));
    const Variable q(random_tensor({batch, queries, 3}, 1)), k(random_tensor({batch, keys, 3}, 2)),
        v(random_tensor({batch, keys, width}, 3));
    const Mask mask = Mask::valid_lengths(from_values<int64_t>(lengths, {batch}));
    for_each_score([&](auto& layer) {
      const auto attended = layer.attend(q, k, v, mask);
      RC_ASSERT(attended.output.shape() == Shape({batch, queries, width}));
      const Tensor sums = attended.weights.sum({2}).data();
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t i = 0; i < queries; ++i)
          RC_ASSERT(std::abs(sums.at({b, i}) - (lengths[static_cast<size_t>(b)] > 0)) < 1e-5);
    });
  }));
}

TEST(Pooling, weights_add_up_to_one_and_dropout_acts_behind_them) {
  AttentionPooling<nn::DotScore> layer({.dropout = 1});
  const Tensor x = random_tensor({2, 3, 4});
  const auto attended = layer.attend(x, x, x);
  EXPECT_TRUE(close(attended.output.data(), zeros({2, 3, 4}), kExact));
  EXPECT_TRUE(close(attended.weights.sum({2}).data(), ones({2, 3}), kF32));
  layer.eval();
  EXPECT_FALSE(close(layer(x, x, x).data(), zeros({2, 3, 4}), {.absolute = 1e-3}));
}

TEST(Pooling, has_defined_results_where_there_is_nothing) {
  for_each_score([](auto& layer) {
    EXPECT_TRUE(
        close(layer(ones({2, 3, 3}), ones({2, 0, 3}), ones({2, 0, 5})).data(), zeros({2, 3, 5}), kExact));
    EXPECT_EQ(layer(ones({0, 3, 3}), ones({0, 4, 3}), ones({0, 4, 5})).shape(), Shape({0, 3, 5}));
    EXPECT_EQ(layer(ones({2, 0, 3}), ones({2, 4, 3}), ones({2, 4, 5})).shape(), Shape({2, 0, 5}));
  });
}

TEST(Pooling, takes_a_score_of_ones_own) {
  AttentionPooling<NearScore> layer({.score = {.reach = 2}});
  const Tensor k = tensor_of({{{1}, {4}}}), v = tensor_of({{{10}, {20}}});
  const double near = std::exp(-0.5), far = std::exp(-1.0);  // distances of 1 and 2
  EXPECT_TRUE(close(layer(tensor_of({{{2}}}), k, v).data(), {(10 * near + 20 * far) / (near + far)}, kF32));
}

TEST(Pooling, names_what_does_not_fit_and_why) {
  const Tensor narrow = ones({2, 3, 4}), wide = ones({2, 5, 6});
  AttentionPooling<nn::DotScore> dot;
  expect_error<ShapeError>([&] { dot(narrow, wide, wide); },
                           "[DotScore] wanted queries and keys of one width, for the score is their product, "
                           "came (2, 3, 4) and (2, 5, 6)");
  AttentionPooling<nn::GaussianScore> gaussian;
  expect_error<ShapeError>([&] { gaussian(narrow, wide, wide); },
                           "[GaussianScore] wanted queries and keys of one width, for the score is of their "
                           "difference, came (2, 3, 4) and (2, 5, 6)");
  AttentionPooling<nn::BilinearScore> bilinear({.score = {.query_width = 4, .key_width = 6}});
  EXPECT_EQ(bilinear(narrow, wide, ones({2, 5, 1})).shape(), Shape({2, 3, 1}));
  expect_error<ShapeError>([&] { bilinear(wide, wide, wide); },
                           "[BilinearScore] wanted queries of width 4, came (2, 5, 6)");
  expect_error<ShapeError>([&] { bilinear(narrow, narrow, wide); },
                           "[BilinearScore] wanted keys of width 6, came (2, 3, 4)");
  AttentionPooling<nn::KeyScore> key({.score = {.key_width = 6}});
  expect_error<ShapeError>([&] { key(wide, narrow, narrow); },
                           "[KeyScore] wanted keys of width 6, came (2, 3, 4)");
  AttentionPooling<nn::UniformScore> uniform;
  const std::string pairs = "wanted queries (batch, queries, width) and keys (batch, keys, width), came ";
  expect_error<ShapeError>(
      [&] {
        uniform(ones({3, 4}), wide, wide);
      },
      "[UniformScore] " + pairs + "(3, 4) and (2, 5, 6)");
  expect_error<ShapeError>([&] { uniform(ones({1, 3, 4}), wide, wide); }, pairs + "(1, 3, 4) and (2, 5, 6)");
  AttentionPooling<nn::AdditiveScore> additive({.score = {.query_width = 4, .key_width = 6, .hidden = 2}});
  expect_error<ShapeError>([&] { additive(ones({2, 4}), wide, wide); }, "[AdditiveScore] " + pairs);
  for (const Tensor& values : {ones({2, 4, 6}), ones({1, 5, 6}), ones({5, 6})}) {
    const std::string message =
        fmt::format("[pool] wanted values (2, 5, any), one for each key, came {}", values.shape());
    expect_error<ShapeError>([&] { uniform(narrow, wide, values); }, message);
    expect_error<ShapeError>([&] { nn::MaxPooling()(narrow, wide, values); }, message);
  }
  expect_error<ValueError>([] { nn::KeyScore({}); }, "[KeyScore] wanted a width of 1 or more, came 0");
  expect_error<ValueError>([] { nn::BilinearScore({.query_width = 2}); },
                           "[BilinearScore] wanted a width of 1 or more, came 0");
  expect_error<ValueError>([] { nn::GaussianScore({.w = std::numeric_limits<double>::infinity()}); },
                           "[GaussianScore] wanted a finite w, came inf");
  expect_error<ValueError>([] { AttentionPooling<nn::DotScore>({.dropout = 2}); },
                           "wanted a probability in [0, 1], came 2");
}
