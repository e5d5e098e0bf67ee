#include <heed/tensor/kernels/index.h>
#include <heed/tensor/random.h>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

Tensor none(const Shape& shape) { return zeros(shape, DType::i64); }
Tensor ids(const NestedList& values) { return tensor_of(values, DType::i64); }

OpCase gather_case(const std::string& name, int64_t axis, std::vector<Variant> small = {}) {
  return {"gather_" + name, [axis](In x, Args a) { return Variables{gather(x[0], axis, a[0])}; }, nullptr,
          std::move(small)};
}

OpFunction scatter_onto(const Shape& shape, int64_t axis) {
  return [=](In x, Args a) { return Variables{scatter_add(shape, axis, a[0], x[0])}; };
}

/// Onto the shape of the fixture; where a case is small, the sizes along its axis are 2. Timed on a source of
/// `timed_source`, onto (64, 128, 128).
OpCase scatter_case(const std::string& name, int64_t axis, const Shape& timed_source) {
  return timed({"scatter_add_" + name,
                scatter_onto({2, 3, 4}, axis),
                nullptr,
                {{{{1, 1, 1}}, {none({1, 1, 1})}},
                 {{{2, 0, 1}}, {none({2, 0, 1})}},
                 {{{0, 0, 0}}, {none({0, 0, 0})}}}},
               {{timed_source}, {{timed_source, 64}}, scatter_onto({64, 128, 128}, axis)});
}

/// The same as a product with a matrix of zeros and ones: what is selected along axis 1 of (2, size, 3).
Variables select_by_product(In x, Args a) {
  return {matmul(kernels::one_hot(a[0], x[0].size(1), DType::f64).to(x[0].dtype()), x[0])};
}

OpCase select_case(const std::string& name, int64_t axis, OpFunction reference = nullptr,
                   std::vector<Variant> small = {}, std::vector<Variant> large = {}) {
  return {"index_select_" + name, [axis](In x, Args a) { return Variables{index_select(x[0], axis, a[0])}; },
          std::move(reference), std::move(small), std::move(large)};
}

OpFunction add_onto(const Shape& shape, int64_t axis) {
  return [=](In x, Args a) { return Variables{index_add(shape, axis, a[0], x[0])}; };
}

/// Onto the shape of the fixture; where a case is small, the sizes along its axis are 2. Timed on a source of
/// `timed_source`, 32 slices, onto (64, 128, 128).
OpCase add_case(const std::string& name, int64_t axis, const Shape& timed_source) {
  return timed({"index_add_" + name, add_onto({2, 3, 4}, axis)},
               {{timed_source}, {{{32}, 64}}, add_onto({64, 128, 128}, axis)});
}

std::vector<OpCase> cases() {
  return {
      timed(gather_case("first", 0,
                        {{{{1}}, {ids({0})}},
                         {{{2}}, {ids({1, 1, 1})}},
                         {{{2, 3}}, {none({0, 3})}},
                         {{{2, 0}}, {none({2, 0})}},
                         {{{0, 3}}, {none({0, 2})}}}),
            {{{128, 64, 128}}, {{{32, 64, 128}, 128}}}),
      timed(gather_case("middle", 1, {{{{2, 3}}, {ids({{2}})}}, {{{2, 0}}, {none({2, 0})}}}),
            {{{64, 128, 128}}, {{{64, 32, 128}, 128}}}),
      timed(gather_case("last", -1, {{{{2, 3}}, {none({1, 0})}}}), {{{2048, 1024}}, {{{2048, 64}, 1024}}}),
      scatter_case("first", 0, {32, 128, 128}),
      scatter_case("middle", 1, {64, 32, 128}),
      scatter_case("last", -1, {64, 128, 32}),
      timed(select_case("first", 0, nullptr,
                        {{{{1}}, {ids({0, 0})}},
                         {{{2, 3}}, {none({0})}},
                         {{{2, 0}}, {ids({1})}},
                         {{{0, 3}}, {none({0})}}}),
            {{{4000, 256}}, {{{2048}, 4000}}}),
      timed(select_case("middle", 1, select_by_product, {{{{2, 3, 1}}, {ids({2, 2})}}},
                        {{{{2, 67, 33}}, {ids({66, 0, 5, 5, 40})}}}),
            {{{64, 128, 128}}, {{{64}, 128}}}),
      timed(select_case("last", -1), {{{64, 128, 128}}, {{{64}, 128}}}),
      add_case("first", 0, {32, 128, 128}),
      add_case("middle", 1, {64, 32, 128}),
      add_case("last", -1, {64, 128, 32})};
}

INSTANTIATE_TEST_SUITE_P(index, OpTest, op_cases(with_bf16(cases())), case_name);

TEST(index, what_is_read_several_times_gets_the_sum_of_the_gradients) {
  const Variable x(tensor_of({{1, 2, 3}}), true);
  const Variable y = gather(x, 1, ids({{2, 0, 2, 2}}));
  EXPECT_TRUE(close(y.data(), {3, 1, 3, 3}, kExact));
  y.backward(tensor_of({{1, 2, 4, 8}}));
  EXPECT_TRUE(close(x.grad().data(), {2, 0, 13}, kExact));
}

TEST(index, edited_indices_are_an_error) {
  for (const auto f : {gather, index_select}) {
    Tensor index = ids({0, 1});
    const Variable x(tensor_of({1, 2}), true);
    const Variable y = sum(f(x, 0, index));
    index.set({0}, 1);
    expect_error<GraphError>([&] { y.backward(); }, "edited");
  }
}

TEST(index, indices_that_do_not_fit_are_named) {
  const Variable x = zeros({2, 3});
  expect_error<IndexError>(
      [&] {
        return gather(x, 1, ids({{0, 3}}));
      },
      "[gather] index 3 is outside the 3 places");
  expect_error<IndexError>([&] { return gather(x, 2, none({2, 3})); }, "[gather] wanted an axis in [-2, 2)");
  expect_error<DTypeError>([&] { return gather(x, 1, zeros({2, 3})); }, "[gather] wanted i64 indices");
  expect_error<ShapeError>([&] { return gather(x, 1, none({3})); },
                           "[gather] wanted an index of 2 axes, came (3,)");
  expect_error<ShapeError>(
      [&] {
        return scatter_add({2, 3}, 1, none({2, 1}), x);
      },
      "[scatter_add] wanted a source of the index's shape (2, 1), came (2, 3)");
  expect_error<IndexError>(
      [&] {
        return scatter_add({2, 3}, 0, full({2, 3}, -1, DType::i64), x);
      },
      "[scatter_add] index -1 is outside the 2 places");
  expect_error<IndexError>([&] { return index_select(x, 0, ids({2})); },
                           "[index_select] index 2 is outside the 2 places");
  expect_error<ShapeError>(
      [&] {
        return index_add({2, 5}, 1, ids({4, 0}), x);
      },
      "[index_add] wanted a source (2, 2), came (2, 3)");
  expect_error<IndexError>(
      [&] {
        return index_add({2, 5}, 1, ids({4, 0, 5}), x);
      },
      "[index_add] index 5 is outside the 5 places");
  expect_error<ShapeError>(
      [&] {
        return index_add({2, 5}, 1, none({1, 3}), x);
      },
      "[index_add] wanted ids (count), came (1, 3)");
  expect_error<IndexError>([&] { return index_select(x, -3, ids({0})); },
                           "[index_select] wanted an axis in [-2, 2), came -3");
  expect_error<ShapeError>(
      [&] {
        return index_select(x, 0, none({1, 1}));
      },
      "[index_select] wanted ids (count), came (1, 1)");
}

}  // namespace
}  // namespace heed::test
