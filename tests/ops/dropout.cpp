#include <cmath>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  return {{"dropout",
           [](In x, Args a) { return Variables{dropout_with_mask(x[0], a[0], 0.25)}; },
           [](In x, Args a) { return Variables{x[0] * a[0].to(x[0].dtype()) / 0.75}; },
           {{{{}}, {ones({}, DType::boolean)}},
            {{{1}}, {zeros({1}, DType::boolean)}},
            {{{2, 0}}, {ones({2, 0}, DType::boolean)}}},
           {{{{67}}, {rand_integers({67}, 0, 2).to(DType::boolean)}}}}};
}

INSTANTIATE_TEST_SUITE_P(dropout, OpTest,
                         op_cases(cases(), {{{512, 1024}}, {{{512, 1024}, 2, DType::boolean}}}), case_name);

TEST(case_C21, probability_one_drops_all_without_nan) {
  Generator generator(1);
  const Variable x(ones({4}), true);
  const Variable y = dropout(x, 1, generator);
  EXPECT_TRUE(close(y.data(), {0, 0, 0, 0}, kExact));
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), {0, 0, 0, 0}, kExact));
}

TEST(case_C21, probability_zero_changes_nothing) {
  Generator generator(1);
  const Variable x(tensor_of({1, -2, 3}), true);
  const Variable y = dropout(x, 0, generator);
  EXPECT_TRUE(close(y.data(), {1, -2, 3}, kExact));
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), {1, 1, 1}, kExact));
}

TEST(case_C21, probabilities_out_of_range_are_named) {
  const Variable x = ones({4});
  const Tensor keep = ones({4}, DType::boolean);
  expect_error<ValueError>([&] { return dropout(x, -0.1); },
                           "[dropout] wanted a probability in [0, 1], came -0.1");
  expect_error<ValueError>([&] { return dropout(x, 1.5); },
                           "[dropout] wanted a probability in [0, 1], came 1.5");
  expect_error<ValueError>([&] { return dropout(x, std::nan("")); }, "came nan");
  expect_error<ValueError>([&] { return dropout_with_mask(x, keep, -0.1); }, "came -0.1");
  expect_error<ValueError>([&] { return dropout_with_mask(x, keep, 1.5); }, "came 1.5");
}

TEST(case_C21, kept_values_are_scaled_so_that_the_mean_stays) {
  Generator generator(3);
  const Variable x(ones({100000}), true);
  const Variable y = dropout(x, 0.25, generator);
  double total = 0;
  for (const float value : y.data().to_vector<float>()) {
    ASSERT_TRUE(value == 0 || std::abs(value - 1.3333334F) < 1e-6F) << value;
    total += value;
  }
  EXPECT_NEAR(total / 100000, 1, 0.011);  // six standard deviations
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), y.data(), kExact));  // the same mask
}

TEST(dropout, the_mask_follows_from_the_generator) {
  Generator first(5), second(5);
  const Variable x = ones({1000});
  const Variable one = dropout(x, 0.5, first), other = dropout(x, 0.5, second), next = dropout(x, 0.5, first);
  EXPECT_TRUE(close(one.data(), other.data(), kExact));
  EXPECT_FALSE(close(one.data(), next.data(), kExact));
}

TEST(dropout, masks_that_do_not_fit_are_named) {
  const Variable x = ones({2, 3});
  expect_error<ShapeError>([&] { return dropout_with_mask(x, ones({3}, DType::boolean), 0.5); },
                           "[dropout] wanted a bool mask of shape (2, 3), came bool(3,)");
  expect_error<ShapeError>([&] { return dropout_with_mask(x, ones({2, 3}), 0.5); }, "came f32(2, 3)");
}

}  // namespace
}  // namespace heed::test
