#include <heed/nn/init.h>

#include <cmath>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

/// Expects numbers that fill [-bound, bound] evenly: mean 0, deviation bound / sqrt(3).
void expect_uniform(const Tensor& x, double bound) {
  double mean = 0, square = 0, largest = 0;
  const auto values = x.to_vector<double>();
  const auto count = static_cast<double>(values.size());
  for (const double v : values) {
    mean += v / count, square += v * v / count;
    largest = std::max(largest, std::abs(v));
  }
  const double deviation = bound / std::sqrt(3.0);
  EXPECT_NEAR(mean, 0, 5 * deviation / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(square), deviation, 0.02 * deviation);
  EXPECT_LE(largest, bound * (1 + 1e-6));
  EXPECT_GT(largest, 0.99 * bound);
}

}  // namespace

TEST(Init, xavier_is_uniform_within_its_bound) {
  Generator generator(1);
  expect_uniform(nn::xavier_uniform({100, 200}, generator), std::sqrt(6.0 / 300));
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

TEST(Init, xavier_wants_a_matrix) {
  expect_error<ShapeError>([] { nn::xavier_uniform({3}); },
                           "[xavier_uniform] wanted (fan_out, fan_in), came (3,)");
  expect_error<ShapeError>([] { nn::xavier_uniform({3, 4, 5}); }, "came (3, 4, 5)");
}

TEST(Init, gives_nothing_for_empty_shapes) {
  EXPECT_EQ(nn::xavier_uniform({0, 0}).numel(), 0);
  EXPECT_EQ(nn::fan_in_uniform({0}, 0).numel(), 0);
}
