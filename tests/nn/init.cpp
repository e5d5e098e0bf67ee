#include <heed/nn/init.h>

#include <cmath>

#include <heed/autograd/ops/matmul.h>
#include <heed/nn/linear.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

struct Statistics {
  double mean = 0, deviation = 0, largest = 0, count = 0;
};

Statistics statistics_of(const Tensor& x) {
  Statistics s{.count = static_cast<double>(x.numel())};
  double square = 0;
  for (const double v : x.to_vector<double>()) {
    s.mean += v / s.count, square += v * v / s.count;
    s.largest = std::max(s.largest, std::abs(v));
  }
  s.deviation = std::sqrt(square - s.mean * s.mean);
  return s;
}

/// Expects numbers that fill [-bound, bound] evenly: mean 0, deviation bound / sqrt(3).
void expect_uniform(const Tensor& x, double bound) {
  const Statistics s = statistics_of(x);
  const double deviation = bound / std::sqrt(3.0);
  EXPECT_NEAR(s.mean, 0, 5 * deviation / std::sqrt(s.count));
  EXPECT_NEAR(s.deviation, deviation, 0.02 * deviation);
  EXPECT_LE(s.largest, bound * (1 + 1e-6));
  EXPECT_GT(s.largest, 0.99 * bound);
}

/// Expects numbers with this deviation around 0, of which 31.7% lie further than one deviation away and 4.6%
/// further than two, as a normal distribution has it.
void expect_normal(const Tensor& x, double deviation) {
  const Statistics s = statistics_of(x);
  EXPECT_NEAR(s.mean, 0, 5 * deviation / std::sqrt(s.count));
  EXPECT_NEAR(s.deviation, deviation, 0.02 * deviation);
  double beyond_one = 0, beyond_two = 0;
  for (const double v : x.to_vector<double>()) {
    beyond_one += (std::abs(v) > deviation) / s.count;
    beyond_two += (std::abs(v) > 2 * deviation) / s.count;
  }
  EXPECT_NEAR(beyond_one, 0.3173, 0.02);
  EXPECT_NEAR(beyond_two, 0.0455, 0.01);
}

}  // namespace

TEST(Init, xavier_is_uniform_within_its_bound) {
  Generator generator(1);
  expect_uniform(nn::xavier_uniform({100, 200}, generator), std::sqrt(6.0 / 300));
}

TEST(Init, kaiming_is_uniform_within_the_bound_of_fan_in) {
  Generator generator(1);
  expect_uniform(nn::kaiming_uniform({100, 200}, generator), std::sqrt(6.0 / 200));
}

TEST(Init, the_normal_kinds_have_the_deviation_of_the_uniform_ones) {
  Generator generator(1);
  expect_normal(nn::xavier_normal({100, 200}, generator), std::sqrt(2.0 / 300));
  expect_normal(nn::kaiming_normal({100, 200}, generator), std::sqrt(2.0 / 200));
}

TEST(Init, kaiming_keeps_the_size_of_numbers_through_a_rectifier) {
  Generator generator(3);
  const Variable x(rand_normal({200, 300}, 0, 1, DType::f32, generator));
  // Half of what comes out of a normal distribution of variance 2 is 0: the mean square is 1.
  for (const Tensor& weight :
       {nn::kaiming_normal({300, 300}, generator), nn::kaiming_uniform({300, 300}, generator)})
    EXPECT_NEAR(linear(x, weight).relu().pow(2).mean().item(), 1, 0.05);
}

TEST(Init, a_truncated_normal_has_no_tails_and_a_known_deviation) {
  Generator generator(1);
  const Tensor x = nn::truncated_normal({100, 200}, 5, 3, 2, generator);
  const Statistics s = statistics_of((Variable(x) - 5).data());
  EXPECT_LE(s.largest, 6 + 1e-6);
  EXPECT_GT(s.largest, 5.9);
  EXPECT_NEAR(s.mean, 0, 0.1);
  EXPECT_NEAR(s.deviation, 3 * 0.87963, 0.05);  // sqrt(1 - 4 phi(2) / (2 Phi(2) - 1))
  EXPECT_TRUE(close(nn::truncated_normal({2}, 4, 0), {4, 4}, kExact));
  for (const auto& [deviation, cut] :
       {std::pair{-1.0, 2.0}, std::pair{1.0, 0.0}, std::pair{double{NAN}, 2.0}})
    expect_error<ValueError>(
        [deviation = deviation, cut = cut] { nn::truncated_normal({2}, 0, deviation, cut); },
        "[truncated_normal] wanted a deviation of 0 or more and a cut of 0.1 or more, came ");
}

TEST(Init, an_orthogonal_matrix_times_its_own_transpose_is_the_identity) {
  Generator generator(5);
  for (const auto& [rows, columns] :
       {std::pair{40, 40}, std::pair{60, 20}, std::pair{20, 60}, std::pair{1, 3}}) {
    const Variable q(nn::orthogonal({rows, columns}, 1, generator).to(DType::f64)), t = q.transpose(0, 1);
    const Variable product = rows > columns ? matmul(t, q) : matmul(q, t);
    EXPECT_TRUE(close(product.data(), eye(product.size(0), product.size(0)), {.absolute = 3e-7}));
  }
  const Variable scaled(nn::orthogonal({3, 3}, 2, generator));
  EXPECT_TRUE(close(matmul(scaled, scaled.transpose(0, 1)).data(), (Variable(eye(3, 3)) * 4).data(),
                    {.absolute = 1e-5}));
  Generator a(4), b(4);
  EXPECT_TRUE(identical(nn::orthogonal({5, 4}, 1, a), nn::orthogonal({5, 4}, 1, b)));
}

TEST(Init, fan_in_is_uniform_within_its_bound) {
  Generator generator(1);
  expect_uniform(nn::fan_in_uniform({20000}, 16, generator), 0.25);
}

TEST(Init, draws_from_the_generator_that_is_given) {
  Generator a(4), b(4), c(5);
  const Tensor first = nn::xavier_uniform({3, 4}, a);
  EXPECT_TRUE(identical(first, nn::xavier_uniform({3, 4}, b)));
  EXPECT_FALSE(identical(first, nn::xavier_uniform({3, 4}, c)));
  EXPECT_FALSE(identical(first, nn::xavier_uniform({3, 4}, a)));
}

TEST(Init, draws_from_this_threads_generator_otherwise) {
  manual_seed(8);
  const Tensor first = nn::fan_in_uniform({5}, 3);
  manual_seed(8);
  EXPECT_TRUE(identical(nn::fan_in_uniform({5}, 3), first));
}

TEST(Init, what_has_two_fans_wants_a_matrix) {
  expect_error<ShapeError>([] { nn::xavier_uniform({3}); },
                           "[xavier_uniform] wanted (fan_out, fan_in), came (3,)");
  expect_error<ShapeError>([] { nn::xavier_uniform({3, 4, 5}); }, "came (3, 4, 5)");
  expect_error<ShapeError>([] { nn::xavier_normal({3}); },
                           "[xavier_normal] wanted (fan_out, fan_in), came (3,)");
  expect_error<ShapeError>([] { nn::kaiming_uniform({3}); },
                           "[kaiming_uniform] wanted (fan_out, fan_in), came");
  expect_error<ShapeError>([] { nn::kaiming_normal({3}); },
                           "[kaiming_normal] wanted (fan_out, fan_in), came");
  expect_error<ShapeError>([] { nn::orthogonal({3}); }, "[orthogonal] wanted (fan_out, fan_in), came (3,)");
}

TEST(Init, gives_nothing_for_empty_shapes) {
  EXPECT_EQ(nn::xavier_uniform({0, 0}).numel(), 0);
  EXPECT_EQ(nn::fan_in_uniform({0}, 0).numel(), 0);
  EXPECT_EQ(nn::kaiming_normal({0, 0}).numel(), 0);
  EXPECT_EQ(nn::truncated_normal({0}).numel(), 0);
  EXPECT_EQ(nn::orthogonal({0, 4}).shape(), Shape({0, 4}));
}

TEST(Init, parameters_take_new_values_where_they_are) {
  nn::Linear layer({.inputs = 40, .outputs = 30});
  const Variable weight = layer.weight();
  Generator generator(3), again(3);
  Tensor(weight.data()).copy_from(nn::kaiming_normal({30, 40}, generator));
  EXPECT_TRUE(identical(layer.state_dict().at("weight"), nn::kaiming_normal({30, 40}, again)));
  EXPECT_TRUE(weight.requires_grad());
}
