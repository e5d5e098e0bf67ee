#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <heed/autograd/ops.h>
#include <heed/tensor/creation.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

/// One struct per case of an op, and the tests that every case passes. A family's file lists its cases and
/// says `INSTANTIATE_TEST_SUITE_P(softmax, OpTest, op_cases(cases()), case_name)`.
namespace heed::test {

using Variables = std::vector<Variable>;
/// What a case takes: the inputs that have gradients, and tensors that have none (masks, ids).
using In = std::span<const Variable>;
using Args = std::span<const Tensor>;
using OpFunction = std::function<Variables(In, Args)>;

/// Other shapes: of size 1, of size 0. Asked of them are finite results and right derivatives.
struct Variant {
  std::vector<Shape> shapes;
  std::vector<Tensor> args = {};
};

/// Integers in [0, end), the same in every run.
struct Integers {
  Shape shape;
  int64_t end = 2;
  DType dtype = DType::i64;
};

/// What a case is timed on: f32 inputs of these shapes, and tensors made of these integers.
struct BenchSize {
  std::vector<Shape> shapes;
  std::vector<Integers> args = {};
  OpFunction run = nullptr;  ///< for an op whose own has the sizes of its fixture in it
};

/// What an op does with bf16 inputs: a DTypeError, or right values and gradients in bf16.
enum class InBf16 { error, values };

struct OpCase {
  std::string name;                ///< of its tensors in the fixtures too
  OpFunction run;                  ///< the op
  OpFunction reference = nullptr;  ///< the same composed of other ops, for a fused op
  std::vector<Variant> small = {};
  std::vector<Variant> large =
      {};                ///< wider than a vector register, with something left over: against the reference
  BenchSize bench = {};  ///< where that of its family does not fit
  InBf16 in_bf16 = InBf16::error;
};

/// The cases of a family for INSTANTIATE_TEST_SUITE_P. `bench`: the size at which they are timed, with as
/// many inputs and tensors as each has. A case that takes more tensors than are given is timed on its
/// fixture.
using OpCases = decltype(testing::ValuesIn(std::vector<OpCase>()));
OpCases op_cases(std::vector<OpCase> cases, const BenchSize& bench = {});
/// All that went through op_cases: every case, once the tests are made.
const std::vector<OpCase>& all_op_cases();
/// The case with a size of its own at which it is timed.
OpCase timed(OpCase op, BenchSize bench);

/// Cases of ops that compute in bf16.
std::vector<OpCase> with_bf16(std::vector<OpCase> cases);

class OpTest : public testing::TestWithParam<OpCase> {};

std::string case_name(const testing::TestParamInfo<OpCase>& info);
void PrintTo(const OpCase& op, std::ostream* stream);

/// What PyTorch computed for a case.
struct Fixture {
  std::vector<Tensor> inputs, args, outputs, upstreams, grads;
};
Fixture load_fixture(const std::string& name);

/// Those of float types in another one.
std::vector<Tensor> converted(const std::vector<Tensor>& tensors, DType dtype);

/// The same numbers over memory that is not contiguous: the axes in reverse order, and with gaps and an
/// offset when `gaps`.
Tensor relaid(const Tensor& x, bool gaps);

/// Leaves that require a gradient.
Variables leaves(const std::vector<Tensor>& tensors);

}  // namespace heed::test
