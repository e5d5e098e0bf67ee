#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

std::vector<OpCase> cases() {
  const std::vector<Variant> any{{{{}}}, {{{1}}}, {{{0}}}, {{{2, 0}}}};
  const auto sums = [](Dims axes, bool keep) {
    return [=](In x, Args) { return Variables{x[0].sum(axes, keep)}; };
  };
  const auto means = [](Dims axes, bool keep) {
    return [=](In x, Args) { return Variables{x[0].mean(axes, keep)}; };
  };
  return {
      {"sum_all", sums({}, false), nullptr, any},
      {"sum_last", sums({-1}, false), nullptr, {{{{1}}}, {{{3, 0}}}, {{{0, 3}}}}},
      {"sum_outer_axes", sums({0, 2}, false), nullptr, {{{{1, 1, 1}}}, {{{2, 0, 3}}}, {{{0, 2, 3}}}}},
      {"sum_keep", sums({0, 1}, true), nullptr, {{{{1, 1}}}, {{{0, 2, 3}}}}},
      {"mean_all", means({}, false), nullptr, {{{{}}}, {{{1}}}}},
      {"mean_middle", means({1}, false), nullptr, {{{{1, 1, 1}}}, {{{0, 2, 3}}}}},
      {"mean_keep", means({0, 2}, true), nullptr, {{{{1, 1, 1}}}, {{{2, 0, 3}}}}},
      timed({"sum_to",
             [](In x, Args) {
               return Variables{sum_to(x[0], {3, 1})};
             },
             nullptr,
             {{{{3, 1}}}, {{{3, 0}}}}},
            {{{3, 1 << 18}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(reduce, OpTest, op_cases(with_bf16(cases()), {{{64, 128, 128}}}), case_name);

TEST(reduce, axes_that_are_not_there_are_named) {
  const Variable x = zeros({2, 3});
  expect_error<IndexError>([&] { return sum(x, {2}); }, "[sum] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { return mean(x, {-3}); }, "[mean] wanted an axis in [-2, 2), came -3");
  expect_error<ShapeError>([&] { return sum(x, {1, -1}); }, "[sum] wanted every axis once, came (1, -1)");
  expect_error<ShapeError>([&] { return sum_to(x, {4}); }, "[sum_to] shape (4,) does not expand to (2, 3)");
}

TEST(reduce, the_mean_of_nothing_is_an_error) {
  const Variable x = zeros({0, 3});
  expect_error<ValueError>([&] { return mean(x); },
                           "[mean] what is reduced has no elements: shape (0, 3), axes ()");
  expect_error<ValueError>([&] { return mean(x, {0}); }, "shape (0, 3)");
}

}  // namespace
}  // namespace heed::test
