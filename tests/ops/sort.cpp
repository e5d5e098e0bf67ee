#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

const std::vector<std::pair<std::string, int64_t>> kAxes{{"first", 0}, {"middle", 1}, {"last", -1}};

Sorted ascending(const Variable& x, int64_t axis) { return sort(x, axis); }
Sorted descending(const Variable& x, int64_t axis) { return sort(x, axis, true); }
Sorted two(const Variable& x, int64_t axis) { return top_k(x, axis, 2); }

using Order = Sorted (*)(const Variable&, int64_t);
const std::vector<std::pair<std::string, Order>> kOrders{
    {"sort_", ascending}, {"sort_descending_", descending}, {"top_k_", two}};

/// Sums of the elements up to each one as a product with a triangle of ones: x (..., size).
Variables sums_by_product(In x, Args) {
  const int64_t size = x[0].size(-1);
  Tensor triangle = zeros({size, size}, x[0].dtype());
  for (int64_t i = 0; i < size; ++i) triangle.select(0, i).slice(0, i, size).fill(1);
  return {matmul(x[0], triangle)};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto& [place, axis] : kAxes) {
    for (const auto& [name, order] : kOrders)
      all.push_back({name + place, [order = order, axis = axis](In x, Args) {
                       return Variables{order(x[0], axis).values};
                     }});
    all.push_back({"cumulative_sum_" + place,
                   [axis = axis](In x, Args) { return Variables{cumulative_sum(x[0], axis)}; }});
  }
  all[0].small = {{{{1}}}, {{{0}}}, {{{1, 4}}}, {{{2, 0}}}, {{{0, 2}}}};  // sort along the first axis
  all[2].small = {{{{2}}}, {{{2, 1}}}, {{{3, 0}}}};                       // the same of top_k
  all[3].small = {{{{1}}}, {{{0}}}, {{{1, 4}}}, {{{2, 0}}}, {{{0, 2}}}};  // and of cumulative_sum
  all[10].small = {{{{5}}}, {{{4, 2}}}, {{{0, 2}}}};                      // top_k along the last
  all[11].reference = sums_by_product;
  all[11].large = {{{{3, 67}}}};
  return all;
}

// In the fixtures the cases have the order as a tensor, which they do not read.
INSTANTIATE_TEST_SUITE_P(sort, OpTest, op_cases(cases(), {{{64, 128, 64}}, {{{1}, 1}}}), case_name);

TEST(sort, the_indices_are_those_of_the_fixtures) {
  for (const auto& [place, axis] : kAxes)
    for (const auto& [name, order] : kOrders) {
      const Fixture fixture = load_fixture(name + place);
      EXPECT_TRUE(close(order(fixture.inputs[0], axis).indices, fixture.args[0], kExact)) << name << place;
    }
}

TEST(sort, the_first_of_equal_values_gets_the_gradient_of_top_k) {
  Variable x(tensor_of({2, 3, 3, 1}), true);
  top_k(x, 0, 2).values.backward(tensor_of({5, 7}));
  EXPECT_TRUE(close(x.grad().data(), {0, 5, 7, 0}, kExact));
  x.zero_grad();
  top_k(x, 0, 1).values.backward(tensor_of({5}));
  EXPECT_TRUE(close(x.grad().data(), {0, 5, 0, 0}, kExact));
}

TEST(sort, edited_indices_are_an_error) {
  const Variable x(tensor_of({2, 1}), true);
  Sorted sorted = sort(x, 0);
  sorted.indices.fill(0);
  expect_error<GraphError>([&] { sum(sorted.values).backward(); }, "edited");
}

TEST(sort, constants_are_not_recorded) {
  EXPECT_FALSE(sort(tensor_of({2, 1}), 0).values.requires_grad());
  EXPECT_FALSE(cumulative_sum(tensor_of({2, 1}), 0).requires_grad());
}

TEST(sort, the_gradient_of_a_sum_reaches_only_what_it_holds) {
  // An infinite gradient of the first sum must not become NaN in the later elements.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Variable x(tensor_of({1, 2, 3}), true);
  cumulative_sum(x, 0).backward(tensor_of({kInfinity, 1, 2}));
  EXPECT_TRUE(close(x.grad().data(), {kInfinity, 3, 2}, kExact));
}

TEST(sort, what_does_not_fit_is_named) {
  const Variable x = zeros({2, 3});
  expect_error<IndexError>([&] { return sort(x, 2); }, "[sort] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { return top_k(x, -3, 1); }, "[top_k] wanted an axis in [-2, 2), came -3");
  expect_error<ValueError>([&] { return top_k(x, 1, 4); },
                           "[top_k] wanted k in [0, 3], the size of axis 1 of (2, 3), came 4");
  expect_error<IndexError>([&] { return cumulative_sum(x, 2); },
                           "[cumulative_sum] wanted an axis in [-2, 2), came 2");
  expect_error<DTypeError>([] { return sort(zeros({2}, DType::boolean), 0); },
                           "[sort] wanted f32, f64 or i64");
}

}  // namespace
}  // namespace heed::test
