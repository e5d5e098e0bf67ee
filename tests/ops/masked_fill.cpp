#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

OpFunction fill_with(double value) {
  return [value](In x, Args a) { return Variables{masked_fill(x[0], a[0], value)}; };
}

std::vector<OpCase> cases() {
  return {{"masked_fill",
           fill_with(2.5),
           nullptr,
           {{{{}}, {ones({}, DType::boolean)}},
            {{{1}}, {zeros({1}, DType::boolean)}},
            {{{2, 0}}, {ones({2, 0}, DType::boolean)}},
            {{{2, 0}}, {ones({1}, DType::boolean)}}}},
          {"masked_fill_broadcast", fill_with(-1)}};
}

INSTANTIATE_TEST_SUITE_P(masked_fill, OpTest,
                         op_cases(with_bf16(cases()), {{{512, 1024}}, {{{512, 1024}, 2, DType::boolean}}}),
                         case_name);

TEST(masked_fill, what_is_replaced_may_be_nan_and_the_fill_infinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const Variable x(tensor_of({nan, 1}), true);
  const Variable y = masked_fill(x, tensor_of({1, 0}, DType::boolean), -infinity);
  EXPECT_TRUE(close(y.data(), {-infinity, 1}, kExact));
  y.backward(tensor_of({nan, 2}));
  EXPECT_TRUE(close(x.grad().data(), {0, 2}, kExact));
}

TEST(masked_fill, masks_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3});
  expect_error<ShapeError>([&] { return masked_fill(x, ones({2}, DType::boolean), 0); },
                           "[masked_fill] wanted a bool mask that expands to (2, 3), came bool(2,)");
  expect_error<ShapeError>([&] { return masked_fill(x, ones({2, 3}), 0); }, "came f32(2, 3)");
}

}  // namespace
}  // namespace heed::test
