#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

// No fixture and no finite differences here: rounding is not differentiable. What is asked of a cast is that
// its gradient is the upstream one, in the dtype of its input.

TEST(cast, gives_the_gradient_in_the_dtype_of_its_input) {
  const Variable x(tensor_of({1, 1 + 0x1p-30}, DType::f64), true);
  const Variable y = x.to(DType::f32);
  EXPECT_EQ(y.dtype(), DType::f32);
  EXPECT_TRUE(close(y.data(), {1, 1}, kExact));
  y.backward(tensor_of({0.5, 3}, DType::f32));
  EXPECT_EQ(x.grad().dtype(), DType::f64);
  EXPECT_TRUE(close(x.grad().data(), {0.5, 3}, kExact));
}

TEST(cast, to_bf16_and_back_rounds_the_value_and_keeps_the_gradient) {
  const Variable x(tensor_of({1 + 0x1p-7, 1 + 0x1p-9}), true);
  const Variable y = x.to(DType::bf16).to(DType::f32) * tensor_of({2, 3});
  EXPECT_TRUE(close(y.data(), {2 * (1 + 0x1p-7), 3}, kExact));
  sum(y).backward();
  EXPECT_TRUE(close(x.grad().data(), {2, 3}, kExact));
}

TEST(cast, has_a_second_derivative) {
  const Variable x(tensor_of({2, 3}, DType::f32), true);
  const Variable y = x.to(DType::f64);
  const Variables cube{sum(y * y * y)};
  const Variables slope{sum(grad(cube, {&x, 1}, {}, {.create_graph = true})[0])};
  const Variables second = grad(slope, {&x, 1});
  EXPECT_EQ(second[0].dtype(), DType::f32);
  EXPECT_TRUE(close(second[0].data(), {12, 18}, kExact));
}

TEST(cast, to_its_own_dtype_is_the_same_variable) {
  const Variable x(ones({2}), true);
  EXPECT_TRUE(cast(x, DType::f32).is_same(x));
}

TEST(cast, takes_empty_and_strided_inputs) {
  const Variable none(zeros({0, 3}), true);
  cast(none, DType::f64).backward(zeros({0, 3}, DType::f64));
  EXPECT_EQ(none.grad().shape(), (Shape{0, 3}));
  const Tensor wide = tensor_of({{1, 2}, {3, 4}}).transpose(0, 1);
  EXPECT_TRUE(close(cast(wide, DType::i64).data(), {1, 3, 2, 4}, kExact));
}

TEST(cast, of_a_constant_may_be_whole_numbers_but_not_of_what_requires_a_gradient) {
  EXPECT_TRUE(close(cast(tensor_of({1.9, -1.9}), DType::i64).data(), {1, -1}, kExact));
  const Variable x(ones({2, 3}), true);
  expect_error<DTypeError>([&] { return cast(x, DType::i64); },
                           "[cast] f32(2, 3) requires a gradient and cannot become i64");
  EXPECT_FALSE(cast(x.detach(), DType::i64).requires_grad());
}

}  // namespace
}  // namespace heed::test
