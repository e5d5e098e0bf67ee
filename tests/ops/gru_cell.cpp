#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

Variables composed(In x, Args) {
  const int64_t hidden = x[2].size(1);
  const auto part = [&](const Variable& gates, int64_t i) {
    return gates.slice(1, i * hidden, (i + 1) * hidden);
  };
  const Variable r = sigmoid(part(x[0], 0) + part(x[1], 0)), z = sigmoid(part(x[0], 1) + part(x[1], 1));
  const Variable n = tanh(part(x[0], 2) + r * part(x[1], 2));
  return {n - z * n + z * x[2]};
}

std::vector<OpCase> cases() {
  const OpFunction step = [](In x, Args) { return Variables{gru_cell(x[0], x[1], x[2])}; };
  return {{"gru_cell",
           step,
           composed,
           {{{{1, 3}, {1, 3}, {1, 1}}}, {{{0, 6}, {0, 6}, {0, 2}}}, {{{2, 0}, {2, 0}, {2, 0}}}},
           {{{{3, 201}, {3, 201}, {3, 67}}}}}};
}

INSTANTIATE_TEST_SUITE_P(gru_cell, OpTest, op_cases(cases(), {{{64, 768}, {64, 768}, {64, 256}}}), case_name);

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
  expect_error<DTypeError>([&] { return gru_cell(gates, zeros({2, 6}, DType::f64), h); }, "f64(2, 6)");
}

}  // namespace
}  // namespace heed::test
