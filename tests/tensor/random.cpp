#include <heed/tensor/random.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/threads.h>

#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

using Words = std::array<uint32_t, 4>;

/// Philox 4x32-10 with its whole counter and key, written from the paper's figure: the key goes up by the
/// golden ratio and the square root of 3 less 1, as fractions of 2^32.
Words philox_of_the_paper(Words x, std::array<uint32_t, 2> key) {
  const auto multiply = [](uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) * b; };
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
    const uint64_t left = multiply(0xD2511F53u, x[0]), right = multiply(0xCD9E8D57u, x[2]);
    x = {static_cast<uint32_t>(right >> 32) ^ x[1] ^ key[0], static_cast<uint32_t>(right),
         static_cast<uint32_t>(left >> 32) ^ x[3] ^ key[1], static_cast<uint32_t>(left)};
  }
  return x;
}

struct Moments {
  double mean, variance, skew, kurtosis;
};

Moments moments_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, second = 0, third = 0, fourth = 0;
  for (const double v : values) mean += v / count;
  for (const double v : values) {
    const double d = v - mean;
    second += d * d / count;
    third += d * d * d / count;
    fourth += d * d * d * d / count;
  }
  return {mean, second, third / std::pow(second, 1.5), fourth / (second * second)};
}

/// Runs f with this many threads.
template <class F>
auto with_threads(int count, F&& f) {
  const int before = num_threads();
  set_num_threads(count);
  auto result = f();
  set_num_threads(before);
  return result;
}

}  // namespace

TEST(random, philox_gives_the_published_vectors) {
  // The known answers of the Random123 library, for Philox 4x32 with 10 rounds.
  EXPECT_EQ(Generator::block(0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_of_the_paper({0, 0, 0, 0}, {0, 0}), Generator::block(0, 0));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox_of_the_paper({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_of_the_paper({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(random, philox_takes_the_place_as_counter_and_the_seed_as_key) {
  EXPECT_TRUE(rc::check([](uint64_t seed, uint64_t place) {
    const auto low = [](uint64_t word) { return static_cast<uint32_t>(word); };
    RC_ASSERT(Generator::block(seed, place) ==
              philox_of_the_paper({low(place), low(place >> 32), 0, 0}, {low(seed), low(seed >> 32)}));
  }));
}

TEST(random, uniform_numbers_have_the_moments_of_the_uniform_distribution) {
  Generator generator(1);
  const Moments m = moments_of(rand_uniform({1'000'000}, 0, 1, DType::f64, generator).to_vector<double>());
  EXPECT_NEAR(m.mean, 0.5, 5 * std::sqrt(1 / 12.0 / 1e6));
  EXPECT_NEAR(m.variance, 1 / 12.0, 4e-4);
  EXPECT_NEAR(m.skew, 0, 0.01);
  EXPECT_NEAR(m.kurtosis, 1.8, 0.01);
}

TEST(random, normal_numbers_have_the_moments_of_the_normal_distribution) {
  Generator generator(2);
  const Moments m = moments_of(rand_normal({1'000'001}, 3, 2, DType::f32, generator).to_vector<double>());
  EXPECT_NEAR(m.mean, 3, 5 * 2 / 1e3);
  EXPECT_NEAR(m.variance, 4, 5 * 4 * std::sqrt(2) / 1e3);
  EXPECT_NEAR(m.skew, 0, 5 * std::sqrt(6) / 1e3);
  EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24) / 1e3);
}

TEST(random, uniform_numbers_stay_below_the_end) {
  Generator generator(3);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto values = rand_uniform({100'000}, 1, 1 + 1e-6, dtype, generator).to_vector<double>();
    EXPECT_GE(*std::ranges::min_element(values), 1);
    EXPECT_LT(*std::ranges::max_element(values), dtype == DType::f32 ? double(1 + 1e-6f) : 1 + 1e-6);
  }
  EXPECT_TRUE(equal(rand_uniform({3}, 2, 2), full({3}, 2)));
}

TEST(random, the_numbers_do_not_depend_on_the_threads) {
  const auto draw = [] {
    Generator generator(7);
    return std::pair(rand_normal({300'001}, 0, 1, DType::f32, generator),
                     rand_uniform({300'001}, 0, 1, DType::f64, generator));
  };
  const auto one = with_threads(1, draw), two = with_threads(2, draw), five = with_threads(5, draw);
  EXPECT_TRUE(identical(one.first, two.first) && identical(one.first, five.first));
  EXPECT_TRUE(identical(one.second, two.second) && identical(one.second, five.second));
}

TEST(random, the_state_is_two_numbers) {
  Generator generator(9);
  rand_uniform({101}, 0, 1, DType::f32, generator);
  const uint64_t seed = generator.seed(), position = generator.position();
  const Tensor next = rand_normal({50}, 0, 1, DType::f32, generator);
  const int64_t whole = static_cast<int64_t>(generator.below(1000));
  Generator other;
  other.restore(seed, position);
  EXPECT_TRUE(identical(rand_normal({50}, 0, 1, DType::f32, other), next));
  EXPECT_EQ(static_cast<int64_t>(other.below(1000)), whole);
  EXPECT_EQ(other.position(), generator.position());
}

TEST(random, a_longer_draw_begins_like_a_shorter_one) {
  Generator a(5), b(5), c(6);
  const Tensor longer = rand_uniform({1000}, 0, 1, DType::f64, a);
  EXPECT_TRUE(identical(longer.slice(0, 0, 7), rand_uniform({7}, 0, 1, DType::f64, b)));
  EXPECT_FALSE(equal(longer, rand_uniform({1000}, 0, 1, DType::f64, c)));
}

TEST(random, integers_cover_their_range_evenly) {
  Generator generator(11);
  std::array<int, 7> counts{};
  for (const int64_t value : rand_integers({70'000}, -3, 4, generator).to_vector<int64_t>()) {
    ASSERT_GE(value, -3);
    ASSERT_LT(value, 4);
    ++counts[static_cast<size_t>(value + 3)];
  }
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - 1e4) * (count - 1e4) / 1e4;
  EXPECT_LT(chi_squared, 25);  // of 6 degrees of freedom: exceeded once in three thousand seeds
}

TEST(random, integers_of_the_widest_range) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
  Generator generator(12);
  int negative = 0;
  for (const int64_t value : rand_integers({1000}, kLow, kHigh, generator).to_vector<int64_t>())
    negative += value < 0;
  EXPECT_NEAR(negative, 500, 100);
  EXPECT_EQ(rand_integers({1}, kHigh - 1, kHigh).item(), static_cast<double>(kHigh - 1));
}

TEST(random, permutations_hold_every_number_once_and_are_even) {
  Generator generator(13);
  std::vector<int64_t> order = rand_permutation(1000, generator).to_vector<int64_t>();
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) {
    const auto p = rand_permutation(3, generator).to_vector<int64_t>();
    ++counts[static_cast<size_t>(2 * p[0] + (p[1] > p[2]))];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(rand_permutation(0).numel(), 0);
}

TEST(random, the_default_generator_belongs_to_the_thread) {
  manual_seed(21);
  const Tensor first = rand_uniform({5});
  Tensor elsewhere;
  std::thread([&] {
    manual_seed(21);
    elsewhere = rand_uniform({5});
  }).join();
  EXPECT_TRUE(identical(first, elsewhere));
  manual_seed(21);
  EXPECT_TRUE(identical(first, rand_uniform({5})));
}

TEST(random, bernoulli_is_true_with_its_probability) {
  constexpr double kCount = 1e6;
  Generator generator(15);
  for (const double p : {0.001, 0.3, 0.5, 0.9}) {
    double share = 0;
    for (const bool value : rand_bernoulli({1'000'000}, p, DType::boolean, generator).to_vector<bool>())
      share += value / kCount;
    EXPECT_NEAR(share, p, 5 * std::sqrt(p * (1 - p) / kCount));
  }
}

TEST(random, bernoulli_is_certain_at_the_ends) {
  Generator generator(16);
  EXPECT_TRUE(
      equal(rand_bernoulli({300'001}, 0, DType::boolean, generator), zeros({300'001}, DType::boolean)));
  EXPECT_TRUE(
      equal(rand_bernoulli({300'001}, 1, DType::boolean, generator), ones({300'001}, DType::boolean)));
}

TEST(random, bernoulli_gives_the_same_choices_in_every_dtype) {
  const auto draw = [](DType dtype) {
    Generator generator(17);
    return rand_bernoulli({7, 11}, 0.4, dtype, generator);
  };
  EXPECT_EQ(rand_bernoulli({2}, 0.5).dtype(), DType::boolean);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean}) {
    EXPECT_EQ(draw(dtype).dtype(), dtype);
    EXPECT_TRUE(equal(draw(dtype).to(DType::f64), draw(DType::f64)));
  }
}

TEST(random, bernoulli_depends_on_the_state_alone) {
  const auto draw = [] {
    Generator generator(18);
    return rand_bernoulli({300'001}, 0.3, DType::boolean, generator);
  };
  EXPECT_TRUE(identical(with_threads(1, draw), with_threads(2, draw)));
  Generator generator(19), other;
  rand_bernoulli({101}, 0.5, DType::boolean, generator);
  other.restore(generator.seed(), generator.position());
  EXPECT_TRUE(identical(rand_bernoulli({50}, 0.5, DType::f32, generator),
                        rand_bernoulli({50}, 0.5, DType::f32, other)));
  EXPECT_EQ(other.position(), generator.position());
}

TEST(random, refuses_what_has_no_distribution) {
  expect_error<ValueError>([] { rand_uniform({2}, 1, 0); },
                           "[rand_uniform] wanted finite low <= high, came 1 and 0");
  expect_error<ValueError>([] { rand_uniform({2}, 0, NAN); }, "came 0 and nan");
  expect_error<ValueError>([] { rand_uniform({2}, -INFINITY, 0); }, "came -inf and 0");
  expect_error<ValueError>([] { rand_normal({2}, 0, -1); }, "[rand_normal]");
  expect_error<ValueError>([] { rand_normal({2}, 0, INFINITY); }, "came inf");
  expect_error<ValueError>([] { rand_integers({2}, 3, 3); },
                           "[rand_integers] wanted low < high, came 3 and 3");
  expect_error<ValueError>([] { Generator().below(0); }, "[random] wanted a bound of 1 or more");
  expect_error<ShapeError>([] { rand_permutation(-1); }, "sizes of 0 or more");
  expect_error<DTypeError>([] { rand_uniform({2}, 0, 1, DType::i64); },
                           "[random] wanted f32 or f64, came i64(2,)");
  expect_error<ValueError>([] { rand_bernoulli({2}, -1e-9); },
                           "[rand_bernoulli] wanted a probability in [0, 1], came -1e-09");
  expect_error<ValueError>([] { rand_bernoulli({2}, 1.5); }, "came 1.5");
  expect_error<ValueError>([] { rand_bernoulli({2}, NAN); }, "came nan");
  EXPECT_EQ(rand_normal({0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(rand_bernoulli({0, 3}, 0.5).shape(), (Shape{0, 3}));
}
