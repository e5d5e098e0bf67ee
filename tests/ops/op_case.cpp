#include "tests/ops/op_case.h"

#include <algorithm>
#include <regex>

#include <heed/autograd/gradcheck.h>
#include <heed/tensor/files/safetensors.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/random.h>

#include "tests/support/paths.h"

namespace heed::test {
namespace {

struct Evaluation {
  std::vector<Tensor> outputs, grads;
};

std::vector<Tensor> data_of(const Variables& variables) {
  std::vector<Tensor> tensors;
  for (const Variable& v : variables) tensors.push_back(v.defined() ? v.data() : Tensor());
  return tensors;
}

/// The outputs of f and the gradients of its inputs; with `recorded` those by which second derivatives go.
Evaluation evaluate(const DifferentiableFunction& f, const std::vector<Tensor>& inputs,
                    const std::vector<Tensor>& upstreams, bool recorded = false) {
  const Variables in = leaves(inputs), outputs = f(in);
  const Variables upstream(upstreams.begin(), upstreams.end());
  return {data_of(outputs), data_of(grad(outputs, in, upstream, {.create_graph = recorded}))};
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, Tolerance tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(close(got[i], want[i], tolerance)) << "  in " << what << " " << i;
}

void expect_close(const Evaluation& got, const Evaluation& want, Tolerance tolerance,
                  const std::string& where = "") {
  expect_close(got.outputs, want.outputs, tolerance, where + "output");
  expect_close(got.grads, want.grads, tolerance, where + "the gradient of input");
}

DifferentiableFunction bind_args(const OpFunction& f, const std::vector<Tensor>& args) {
  return [f, args](In in) { return f(in, args); };
}

std::vector<Tensor> all_relaid(const std::vector<Tensor>& tensors, bool gaps) {
  std::vector<Tensor> result;
  for (const Tensor& x : tensors) result.push_back(relaid(x, gaps));
  return result;
}

/// A way to feed the inputs of an op: from the leaves that are moved in a check.
struct Row {
  std::string name;
  std::function<Variables(In)> inputs;
};

/// Distinct inputs; one variable twice (or everywhere) where shapes allow; one input computed from another.
std::vector<Row> rows_of(const std::vector<Tensor>& tensors) {
  std::vector<Row> rows{{"distinct inputs: ", [](In in) { return Variables(in.begin(), in.end()); }}};
  bool all_same = tensors.size() > 2;
  for (size_t j = 1; j < tensors.size(); ++j)
    for (size_t i = 0; i < j; ++i) {
      if (tensors[i].shape() != tensors[j].shape()) {
        all_same = false;
        continue;
      }
      rows.push_back({fmt::format("inputs {} and {} are one variable: ", i, j), [i, j](In in) {
                        Variables aliased(in.begin(), in.end());
                        aliased[i] = aliased[j];
                        return aliased;
                      }});
      rows.push_back({fmt::format("input {} is computed from {}: ", j, i), [i, j](In in) {
                        Variables computed(in.begin(), in.end());
                        computed[j] = exp(computed[i] * 0.3);
                        return computed;
                      }});
    }
  if (all_same)
    rows.push_back({"all inputs are one variable: ", [](In in) { return Variables(in.size(), in.front()); }});
  return rows;
}

DifferentiableFunction after(const Row& row, const DifferentiableFunction& f) {
  return [row, f](In in) { return f(row.inputs(in)); };
}

/// Outputs and gradients like `evaluate`, where a leaf may go unused: its gradient is then undefined.
Evaluation evaluate_row(const DifferentiableFunction& f, const Fixture& fixture, bool recorded) {
  const Variables in = leaves(fixture.inputs), outputs = f(in);
  const Variables upstream(fixture.upstreams.begin(), fixture.upstreams.end());
  const auto grads = grad(outputs, in, upstream, {.create_graph = recorded, .allow_unused = true});
  Evaluation result{data_of(outputs), {}};
  for (size_t i = 0; i < in.size(); ++i)
    result.grads.push_back(grads[i].defined() ? grads[i].data() : zeros_like(in[i].data()));
  return result;
}

/// Rounding to the 8 bits of bf16 changes a number by at most 2^-8 of it. The longest way of a gradient, that
/// of a divisor that is broadcast, has four such roundings one after the other. Where a sum cancels, its
/// rounded terms are larger than what is left; no term here is larger than the largest number of the tensor.
Tolerance bf16_tolerance(const Tensor& wanted) {
  constexpr double kRounding = 0x1p-8;
  double largest = 0;
  for (const double value : wanted.to_vector<double>()) largest = std::max(largest, std::abs(value));
  return {.relative = 4 * kRounding, .absolute = kRounding * largest};
}

void expect_close_in_bf16(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted,
                          const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].dtype(), DType::bf16) << what << " " << i;
    EXPECT_TRUE(close(got[i], wanted[i], bf16_tolerance(wanted[i]))) << "  in " << what << " " << i;
  }
}

/// The message of the DTypeError that f() throws, or what it did instead.
template <class F>
std::string dtype_error_of(F f) {
  try {
    f();
  } catch (const DTypeError& error) {
    return error.what();
  }
  return "no DTypeError";
}

std::vector<OpCase>& known_cases() {
  static std::vector<OpCase> cases;
  return cases;
}

}  // namespace

OpCases op_cases(std::vector<OpCase> cases, const BenchSize& bench) {
  for (OpCase& op : cases) {
    if (op.bench.shapes.empty()) op.bench = bench;
    // GoogleTest asks for them once for each kind of test.
    const auto has_its_name = [&](const OpCase& known) { return known.name == op.name; };
    if (std::ranges::none_of(known_cases(), has_its_name)) known_cases().push_back(op);
  }
  return testing::ValuesIn(cases);
}

const std::vector<OpCase>& all_op_cases() { return known_cases(); }

OpCase timed(OpCase op, BenchSize bench) {
  op.bench = std::move(bench);
  return op;
}

std::vector<OpCase> with_bf16(std::vector<OpCase> cases) {
  for (OpCase& op : cases) op.in_bf16 = InBf16::values;
  return cases;
}

std::vector<Tensor> converted(const std::vector<Tensor>& tensors, DType dtype) {
  std::vector<Tensor> result;
  for (const Tensor& x : tensors) result.push_back(is_floating(x.dtype()) ? x.to(dtype) : x);
  return result;
}

std::string case_name(const testing::TestParamInfo<OpCase>& info) { return info.param.name; }

void PrintTo(const OpCase& op, std::ostream* stream) { *stream << op.name; }

Fixture load_fixture(const std::string& name) {
  static const SafetensorsFile file = load_safetensors(fixture_path("ops.safetensors"));
  const auto all = [&](const char* kind) {
    std::vector<Tensor> tensors;
    for (auto found = file.tensors.end();; tensors.push_back(found->second)) {
      found = file.tensors.find(fmt::format("{}/{}{}", name, kind, tensors.size()));
      if (found == file.tensors.end()) return tensors;
    }
  };
  Fixture fixture{all("in"), all("arg"), all("out"), all("upstream"), all("grad")};
  if (fixture.inputs.empty()) raise<FileError>("[fixtures] there is no case {} in ops.safetensors", name);
  return fixture;
}

Tensor relaid(const Tensor& x, bool gaps) {
  Shape memory;
  std::vector<int64_t> back;
  for (int64_t axis = x.rank() - 1; axis >= 0; --axis) {
    memory.push_back(x.shape()[axis]);
    back.push_back(axis);
  }
  Tensor space;
  if (gaps) {
    memory.push_back(2);
    space = zeros(memory, x.dtype()).select(-1, 1);
  } else {
    space = zeros(memory, x.dtype());
  }
  Tensor result = space.permute(back);
  result.copy_from(x);
  return result;
}

Variables leaves(const std::vector<Tensor>& tensors) {
  Variables result;
  for (const Tensor& x : tensors) result.emplace_back(x, true);
  return result;
}

TEST_P(OpTest, matches_the_fixture_in_f64) {
  const Fixture fixture = load_fixture(GetParam().name);
  const auto got = evaluate(bind_args(GetParam().run, fixture.args), fixture.inputs, fixture.upstreams);
  expect_close(got, {fixture.outputs, fixture.grads}, kF64);
}

TEST_P(OpTest, matches_the_fixture_in_f32) {
  const Fixture fixture = load_fixture(GetParam().name);
  const auto args = converted(fixture.args, DType::f32);
  const auto got = evaluate(bind_args(GetParam().run, args), converted(fixture.inputs, DType::f32),
                            converted(fixture.upstreams, DType::f32));
  for (const Tensor& x : got.outputs) EXPECT_EQ(x.dtype(), DType::f32);
  for (const Tensor& x : got.grads) EXPECT_EQ(x.dtype(), DType::f32);
  expect_close(got, {fixture.outputs, fixture.grads}, kF32);
}

TEST_P(OpTest, computes_in_bf16_or_says_that_it_does_not) {
  const Fixture fixture = load_fixture(GetParam().name);
  const auto f = bind_args(GetParam().run, fixture.args);
  const auto inputs = converted(fixture.inputs, DType::bf16);
  if (GetParam().in_bf16 == InBf16::error) {
    // "[op] wanted f32 or f64, came bf16(2, 3)"; op is the case's name, or the family's, up to a suffix.
    const std::string message = dtype_error_of([&] { f(leaves(inputs)); });
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(message, parts, std::regex(R"(\[(\w+)\] wanted .+, came bf16\([\d, ]*\))")))
        << message;
    const std::string suite = testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    EXPECT_TRUE(GetParam().name.starts_with(parts.str(1)) || suite.starts_with(parts.str(1))) << message;
    return;
  }
  const auto upstreams = converted(fixture.upstreams, DType::bf16);
  const auto wanted = evaluate(f, converted(inputs, DType::f32), converted(upstreams, DType::f32));
  for (const bool recorded : {false, true}) {
    const auto got = evaluate(f, inputs, upstreams, recorded);
    expect_close_in_bf16(got.outputs, wanted.outputs, "output");
    expect_close_in_bf16(got.grads, wanted.grads, "the gradient of input");
  }
}

TEST_P(OpTest, backward_gathers_the_same_gradients) {
  const Fixture fixture = load_fixture(GetParam().name);
  const Variables in = leaves(fixture.inputs), outputs = GetParam().run(in, fixture.args);
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i].backward(fixture.upstreams[i], {.retain_graph = true});
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_TRUE(close(in[i].grad().data(), fixture.grads[i], kF64)) << "  in the gradient of input " << i;
}

TEST_P(OpTest, has_right_first_and_second_derivatives) {
  const Fixture fixture = load_fixture(GetParam().name);
  const auto f = bind_args(GetParam().run, fixture.args);
  for (const Row& row : rows_of(fixture.inputs)) {
    const GradcheckReport first = gradcheck(after(row, f), leaves(fixture.inputs));
    EXPECT_TRUE(first) << row.name << first.failure;
    const GradcheckReport second = gradgradcheck(after(row, f), leaves(fixture.inputs));
    EXPECT_TRUE(second) << row.name << second.failure;
  }
}

TEST_P(OpTest, recorded_gradients_are_the_same) {
  const Fixture fixture = load_fixture(GetParam().name);
  const auto f = bind_args(GetParam().run, fixture.args);
  for (const Row& row : rows_of(fixture.inputs))
    expect_close(evaluate_row(after(row, f), fixture, true), evaluate_row(after(row, f), fixture, false),
                 kF64, row.name);
}

TEST_P(OpTest, equals_its_reference) {
  if (!GetParam().reference) return;
  const Fixture fixture = load_fixture(GetParam().name);
  const auto f = bind_args(GetParam().run, fixture.args);
  const auto reference = bind_args(GetParam().reference, fixture.args);
  for (const Row& row : rows_of(fixture.inputs))
    expect_close(evaluate_row(after(row, f), fixture, false),
                 evaluate_row(after(row, reference), fixture, false), kF64, row.name);
}

TEST_P(OpTest, equals_its_reference_in_large) {
  for (const Variant& variant : GetParam().large) {
    Generator generator(7);
    Fixture made;
    for (const Shape& shape : variant.shapes)
      made.inputs.push_back(rand_uniform(shape, -1, 1, DType::f64, generator));
    const auto f = bind_args(GetParam().run, variant.args);
    const auto reference = bind_args(GetParam().reference, variant.args);
    for (const Variable& output : f(leaves(made.inputs)))
      made.upstreams.push_back(rand_uniform(output.shape(), -1, 1, DType::f64, generator));
    const auto wanted = evaluate(reference, made.inputs, made.upstreams);
    expect_close(evaluate(f, made.inputs, made.upstreams), wanted, kF64, "f64: ");
    const auto single =
        evaluate(f, converted(made.inputs, DType::f32), converted(made.upstreams, DType::f32));
    expect_close(single, wanted, kF32, "f32: ");
  }
}

TEST_P(OpTest, takes_inputs_of_any_layout) {
  const Fixture fixture = load_fixture(GetParam().name);
  for (const bool gaps : {false, true}) {
    const auto f = bind_args(GetParam().run, all_relaid(fixture.args, gaps));
    for (const bool recorded : {false, true})
      expect_close(
          evaluate(f, all_relaid(fixture.inputs, gaps), all_relaid(fixture.upstreams, gaps), recorded),
          {fixture.outputs, fixture.grads}, kF64, gaps ? "with gaps: " : "transposed: ");
  }
}

TEST_P(OpTest, gives_gradients_only_where_they_are_wanted) {
  const Fixture fixture = load_fixture(GetParam().name);
  for (size_t wanted = 0; wanted < fixture.inputs.size(); ++wanted) {
    Variables in;
    for (size_t i = 0; i < fixture.inputs.size(); ++i) in.emplace_back(fixture.inputs[i], i == wanted);
    const Variables outputs = GetParam().run(in, fixture.args);
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].backward(fixture.upstreams[i], {.retain_graph = true});
    for (size_t i = 0; i < in.size(); ++i) {
      if (i == wanted)
        EXPECT_TRUE(close(in[i].grad().data(), fixture.grads[i], kF64)) << "  in the gradient of input " << i;
      else
        EXPECT_FALSE(in[i].grad().defined());
    }
  }
  const Variables constants(fixture.inputs.begin(), fixture.inputs.end());
  for (const Variable& output : GetParam().run(constants, fixture.args)) EXPECT_FALSE(output.requires_grad());
}

TEST_P(OpTest, has_defined_results_for_small_and_empty_inputs) {
  for (const Variant& variant : GetParam().small) {
    Generator generator(7);
    std::vector<Tensor> inputs;
    std::string where;
    for (const Shape& shape : variant.shapes) {
      inputs.push_back(rand_uniform(shape, 0.5, 1.5, DType::f64, generator));
      where += to_string(shape) + " ";
    }
    const auto f = bind_args(GetParam().run, variant.args);
    for (const bool recorded : {false, true}) {
      const Variables in = leaves(inputs), outputs = f(in);
      Variables upstream;
      for (const Variable& output : outputs) {
        EXPECT_TRUE(kernels::all_finite(output.data())) << where;
        upstream.emplace_back(ones_like(output.data()));
      }
      const Variables grads = grad(outputs, in, upstream, {.create_graph = recorded});
      for (size_t i = 0; i < in.size(); ++i) {
        EXPECT_EQ(grads[i].shape(), in[i].shape()) << where;
        EXPECT_TRUE(kernels::all_finite(grads[i].data())) << where;
      }
    }
    const GradcheckReport first = gradcheck(f, leaves(inputs)), second = gradgradcheck(f, leaves(inputs));
    EXPECT_TRUE(first) << where << first.failure;
    EXPECT_TRUE(second) << where << second.failure;
  }
}

}  // namespace heed::test
