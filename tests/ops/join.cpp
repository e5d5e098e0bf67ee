#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  static constexpr int64_t kSizes[] = {1, 3, 2};
  return {
      {"concat",
       [](In x, Args) { return Variables{concat(x, 0)}; },
       nullptr,
       {{{{1}}}, {{{0}, {2}}}, {{{0, 3}, {0, 3}}}, {{{2, 0}, {1, 0}}}}},
      {"concat_last",
       [](In x, Args) {
         return Variables{concat({x[0], x[1]}, -1)};
       }},
      {"stack",
       [](In x, Args) { return Variables{stack(x, 1)}; },
       nullptr,
       {{{{1}}}, {{{0}, {0}}}, {{{2, 0}, {2, 0}}}}},
      timed({"split", [](In x, Args) { return split(x[0], kSizes, 1); }, nullptr, {{{{1, 6}}}, {{{0, 6}}}}},
            {{{64, 6, 1024}}}),
      timed({"unstack", [](In x, Args) { return unstack(x[0], 1); }, nullptr, {{{{1, 1}}}, {{{0, 2}}}}},
            {{{64, 32, 256}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(join, OpTest,
                         op_cases(with_bf16(cases()), {{{512, 1024}, {512, 1024}, {512, 1024}}}), case_name);

TEST(join, parts_that_nobody_used_count_as_zero) {
  const Variable x(ones({2, 6}), true);
  const int64_t sizes[] = {1, 3, 2};
  sum(split(x, sizes, 1)[1]).backward();
  EXPECT_TRUE(close(x.grad().data(), {0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0}, kExact));
  const Variable y(ones({2, 2}), true);
  sum(unstack(y, 0)[1]).backward();
  EXPECT_TRUE(close(y.grad().data(), {0, 0, 1, 1}, kExact));
}

TEST(join, a_split_into_nothing_and_an_empty_axis_give_no_parts) {
  EXPECT_TRUE(unstack(Variable(zeros({0, 2}), true), 0).empty());
  EXPECT_TRUE(split(Variable(zeros({0, 2}), true), {}, 0).empty());
}

TEST(join, shapes_that_do_not_fit_are_named) {
  const Variable a = zeros({2, 3}), b = zeros({2, 4});
  expect_error<ShapeError>(
      [&] {
        return concat({a, b}, 0);
      },
      "[concat] wanted shapes that agree but for axis 0, came (2, 3) and (2, 4)");
  expect_error<ShapeError>([&] { return concat({a, zeros({3})}, 0); }, "(3,)");
  expect_error<IndexError>([&] { return concat({a, a}, 2); }, "[concat] wanted an axis in [-2, 2), came 2");
  expect_error<DTypeError>([&] { return concat({a, zeros({2, 3}, DType::f64)}, 0); }, "f64(2, 3)");
  expect_error<ValueError>([] { return concat({}, 0); }, "[concat] wanted one tensor or more, came none");
  expect_error<ValueError>([] { return stack({}, 0); }, "[stack] wanted one tensor or more, came none");
  const Variables both{a, b};
  expect_error<ShapeError>([&] { return stack(both, 0); },
                           "[stack] wanted tensors of one shape, came (2, 3) and (2, 4)");
  const int64_t sizes[] = {1, 1};
  expect_error<ShapeError>([&] { return split(a, sizes, 1); },
                           "[split] wanted sizes that add up to axis 1 of (2, 3), came (1, 1)");
  const int64_t negative[] = {4, -1};
  expect_error<ShapeError>([&] { return split(a, negative, 1); }, "(4, -1)");
  expect_error<IndexError>([&] { return unstack(a, 2); }, "[unstack] wanted an axis in [-2, 2), came 2");
}

}  // namespace
}  // namespace heed::test
