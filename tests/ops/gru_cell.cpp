#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

Variables composed(In x, Args a) {
  const int64_t hidden = x[2].size(1);
  const auto part = [&](const Variable& gates, int64_t i) {
    return gates.slice(1, i * hidden, (i + 1) * hidden);
  };
  const Variable r = sigmoid(part(x[0], 0) + part(x[1], 0)), z = sigmoid(part(x[0], 1) + part(x[1], 1));
  const Variable n = tanh(part(x[0], 2) + r * part(x[1], 2));
  const Variable next = n - z * n + z * x[2];
  if (a.empty()) return {next};
  const Variable on = a[0].to(x[2].dtype()).reshape({x[2].size(0), 1});
  return {x[2] + on * (next - x[2])};
}

std::vector<OpCase> cases() {
  const OpFunction step = [](In x, Args a) {
    return Variables{gru_cell(x[0], x[1], x[2], a.empty() ? Tensor() : a[0])};
  };
  return {{"gru_cell",
           step,
           composed,
           {{{{1, 3}, {1, 3}, {1, 1}}}, {{{0, 6}, {0, 6}, {0, 2}}}, {{{2, 0}, {2, 0}, {2, 0}}}},
           {{{{3, 201}, {3, 201}, {3, 67}}}}},
          {"gru_cell_active",
           step,
           composed,
           {{{{1, 3}, {1, 3}, {1, 1}}, {zeros({1}, DType::boolean)}},
            {{{0, 6}, {0, 6}, {0, 2}}, {zeros({0}, DType::boolean)}}}}};
}

INSTANTIATE_TEST_SUITE_P(gru_cell, OpTest,
                         op_cases(cases(), {{{64, 768}, {64, 768}, {64, 256}}, {{{64}, 2, DType::boolean}}}),
                         case_name);

TEST(gru_cell, a_row_that_is_not_active_keeps_its_state) {
  const Variable gates(full({2, 3}, 9), true), h(tensor_of({{0.25}, {0.5}}), true);
  const Variable next = gru_cell(gates, gates, h, tensor_of({0, 1}, DType::boolean));
  EXPECT_EQ(next.data().at({0, 0}), 0.25);
  next.backward(ones({2, 1}));
  EXPECT_EQ(h.grad().data().at({0, 0}), 1);
  EXPECT_TRUE(close(gates.grad().data().select(0, 0), {0, 0, 0}, kExact));
}

TEST(gru_cell, shapes_that_do_not_fit_are_named) {
  const Variable gates = zeros({2, 6}), h = zeros({2, 2});
  expect_error<ShapeError>(
      [&] {
        return gru_cell(gates, zeros({2, 5}), h);
      },
      "[gru_cell] wanted gx and gh (batch, 3 hidden) and h (batch, hidden), came (2, 6), "
      "(2, 5), (2, 2)");
  expect_error<ShapeError>([&] { return gru_cell(gates, gates, zeros({3, 2})); }, "(3, 2)");
  expect_error<ShapeError>([&] { return gru_cell(gates, gates, zeros({2})); }, "(2,)");
  expect_error<ShapeError>([&] { return gru_cell(gates, gates, h, ones({3}, DType::boolean)); },
                           "[gru_cell] wanted active bool(2,), came bool(3,)");
  expect_error<ShapeError>([&] { return gru_cell(gates, gates, h, ones({2})); }, "came f32(2,)");
  expect_error<DTypeError>([&] { return gru_cell(gates, zeros({2, 6}, DType::f64), h); }, "f64(2, 6)");
}

}  // namespace
}  // namespace heed::test
