#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

using Extreme = Variable (*)(const Variable&, const Dims&, bool);

OpCase extreme_case(const std::string& name, Extreme extreme, const Dims& axes, bool keep,
                    std::vector<Variant> small) {
  return {name, [=](In x, Args) { return Variables{extreme(x[0], axes, keep)}; }, nullptr, std::move(small)};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto& [name, extreme] : {std::pair<std::string, Extreme>{"max", max}, {"min", min}}) {
    all.push_back(extreme_case(name + "_all", extreme, {}, false, {{{{}}}, {{{1}}}, {{{2, 3}}}}));
    all.push_back(extreme_case(name + "_last", extreme, {-1}, false, {{{{1}}}, {{{0, 3}}}, {{{2, 1}}}}));
    all.push_back(extreme_case(name + "_outer_axes", extreme, {0, 2}, false, {{{{1, 1, 1}}}, {{{2, 0, 3}}}}));
    all.push_back(extreme_case(name + "_keep", extreme, {0, 1}, true, {{{{1, 1}}}, {{{2, 3, 0}}}}));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(extremes, OpTest, op_cases(cases(), {{{64, 128, 128}}}), case_name);

TEST(extremes, equal_extremes_share_the_gradient) {
  for (const auto& [name, extreme] : {std::pair<std::string, Extreme>{"max", max}, {"min", min}})
    for (const auto& [kind, axes] : {std::pair<std::string, Dims>{"_ties", {1}}, {"_ties_of_all", {}}}) {
      const Fixture fixture = load_fixture(name + kind);
      for (const bool recorded : {false, true}) {
        const Variables x = leaves(fixture.inputs), y{extreme(x[0], axes, false)};
        EXPECT_TRUE(close(y[0].data(), fixture.outputs[0], kExact)) << name << kind;
        const Variables upstream(fixture.upstreams.begin(), fixture.upstreams.end());
        const Variables grads = grad(y, x, upstream, {.create_graph = recorded});
        EXPECT_TRUE(close(grads[0].data(), fixture.grads[0], kF64)) << name << kind;
      }
    }
}

TEST(extremes, nan_gets_the_gradient) {
  const Variable x(tensor_of({{1, NAN, 3, NAN}, {4, 5, 5, 6}}), true);
  max(x, {1}).backward(tensor_of({6, 1}));
  EXPECT_TRUE(close(x.grad().data(), {0, 3, 0, 3, 0, 0, 0, 1}, kExact));
}

TEST(extremes, an_infinite_gradient_reaches_the_extreme_only) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Variable x(tensor_of({1, 3, 2}), true);
  max(x).backward(scalar(kInfinity));
  EXPECT_TRUE(close(x.grad().data(), {0, kInfinity, 0}, kExact));
}

TEST(extremes, whole_numbers_are_constants) {
  EXPECT_EQ(max(tensor_of({3, 7}, DType::i64)).item(), 7);
  EXPECT_FALSE(min(tensor_of({3, 7})).requires_grad());
}

TEST(extremes, what_does_not_fit_is_named) {
  const Variable x = zeros({2, 0});
  expect_error<ValueError>([&] { return max(x, {1}); },
                           "[max] what is reduced has no elements: shape (2, 0), axes (1,)");
  expect_error<ValueError>([&] { return min(x); }, "[min] what is reduced has no elements");
  expect_error<IndexError>([&] { return max(x, {2}); }, "[max] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { return min(x, {0, 0}); }, "[min] wanted every axis once, came (0, 0)");
}

}  // namespace
}  // namespace heed::test
