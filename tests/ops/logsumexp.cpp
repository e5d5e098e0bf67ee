#include <cmath>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

OpCase logsumexp_case(const std::string& name, const Dims& axes, bool keep, std::vector<Variant> small,
                      std::vector<Variant> large) {
  return {name, [=](In x, Args) { return Variables{logsumexp(x[0], axes, keep)}; },
          [=](In x, Args) { return Variables{log(sum(exp(x[0]), axes, keep))}; }, std::move(small),
          std::move(large)};
}

std::vector<OpCase> cases() {
  return {
      logsumexp_case("logsumexp_all", {}, false, {{{{}}}, {{{1}}}, {{{2, 3}}}}, {{{{9, 67}}}}),
      logsumexp_case("logsumexp_last", {-1}, false, {{{{1}}}, {{{0, 3}}}, {{{2, 1}}}}, {{{{3, 67}}}}),
      logsumexp_case("logsumexp_outer_axes", {0, 2}, false, {{{{1, 1, 1}}}, {{{2, 0, 3}}}}, {{{{5, 3, 37}}}}),
      logsumexp_case("logsumexp_keep", {0, 1}, true, {{{{1, 1}}}, {{{2, 3, 0}}}}, {{{{5, 3, 37}}}}),
  };
}

INSTANTIATE_TEST_SUITE_P(logsumexp, OpTest, op_cases(cases(), {{{64, 128, 128}}}), case_name);

TEST(logsumexp, hidden_elements_have_no_gradient_and_leave_no_nan) {
  const Variable x(tensor_of({{-INFINITY, 0, 0}, {-INFINITY, -INFINITY, -INFINITY}}), true);
  for (const bool recorded : {false, true}) {
    const Variables y{logsumexp(x, {1})}, in{x}, upstream{tensor_of({2, 3})};
    EXPECT_TRUE(close(y[0].data(), {std::log(2.0), -INFINITY}, kF32));
    const Variables slope = grad(y, in, upstream, {.create_graph = recorded});
    EXPECT_TRUE(close(slope[0].data(), {0, 1, 1, 0, 0, 0}, kF32));
    if (!recorded) continue;
    const Variables ones{ones_like(x.data()) * Variable(tensor_of({1, 2, 3}))};
    const Variables second = grad(slope, in, ones);
    // of 2 p with p = (0, 1/2, 1/2): 2 p_i (u_i - sum(u p)) with u = (1, 2, 3)
    EXPECT_TRUE(close(second[0].data(), {0, -0.5, 0.5, 0, 0, 0}, kF32));
  }
}

TEST(logsumexp, nothing_gives_minus_infinity_and_an_empty_gradient) {
  const Variable x(zeros({2, 0}), true);
  const Variable y = logsumexp(x, {1});
  EXPECT_TRUE(close(y.data(), {-INFINITY, -INFINITY}, kExact));
  y.backward(ones({2}));
  EXPECT_EQ(x.grad().shape(), (Shape{2, 0}));
}

TEST(logsumexp, what_does_not_fit_is_named) {
  const Variable x = zeros({2, 3});
  expect_error<IndexError>([&] { return logsumexp(x, {2}); },
                           "[logsumexp] wanted an axis in [-2, 2), came 2");
  expect_error<ShapeError>([&] { return logsumexp(x, {0, 0}); }, "[logsumexp] wanted every axis once");
  expect_error<DTypeError>([] { return logsumexp(zeros({2}, DType::i64)); },
                           "[logsumexp] wanted f32 or f64, came i64(2,)");
}

}  // namespace
}  // namespace heed::test
