#include "tests/ops/op_bench.h"

#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include <heed/tensor/random.h>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

using Clock = std::chrono::steady_clock;

/// In microseconds.
struct Times {
  double forward = 0, backward = 0;
  double both() const { return forward + backward; }
};

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Median times over at least five runs and about a tenth of a second, after one that is not counted.
Times time_of(const OpFunction& f, const Fixture& given) {
  constexpr size_t kLeast = 5, kMost = 1000;
  constexpr double kEnough = 1e5;
  const Variables in = leaves(given.inputs);
  std::vector<double> forward, backward;
  const auto start = Clock::now();
  for (size_t run = 0; run < kMost && (run <= kLeast || since(start) < kEnough); ++run) {
    const auto begin = Clock::now();
    const Variables outputs = f(in, given.args);
    const double made = since(begin);
    Variables upstream;
    for (const Variable& output : outputs) upstream.emplace_back(ones_like(output.data()));
    const auto turn = Clock::now();
    (void)grad(outputs, in, upstream, {.allow_unused = true});
    const double back = since(turn);
    if (run == 0) continue;
    forward.push_back(made);
    backward.push_back(back);
  }
  return {median(forward), median(backward)};
}

/// What a case is timed on.
Fixture inputs_of(const OpCase& op) {
  Fixture given = load_fixture(op.name);
  const BenchSize& size = op.bench;
  if (!size.shapes.empty() && size.args.size() >= given.args.size()) {
    Generator generator(7);
    given.inputs.resize(std::min(size.shapes.size(), given.inputs.size()));
    for (size_t i = 0; i < given.inputs.size(); ++i)
      given.inputs[i] = rand_uniform(size.shapes[i], 0.5, 1.5, DType::f32, generator);
    for (size_t i = 0; i < given.args.size(); ++i)
      given.args[i] =
          rand_integers(size.args[i].shape, 0, size.args[i].end, generator).to(size.args[i].dtype);
  }
  given.inputs = converted(given.inputs, DType::f32);
  given.args = converted(given.args, DType::f32);
  return given;
}

/// "(64, 32) x2 (32,)"
std::string shapes_of(const std::vector<Tensor>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size();) {
    size_t same = i;
    while (same < tensors.size() && tensors[same].shape() == tensors[i].shape()) ++same;
    text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(tensors[i].shape()));
    if (same > i + 1) text += fmt::format(" x{}", same - i);
    i = same;
  }
  return text;
}

void bench(const OpCase& op, std::ostream& table) {
  const Fixture given = inputs_of(op);
  const Times times = time_of(op.bench.run ? op.bench.run : op.run, given);
  fmt::print(table, "{:<32} {:<36} {:>11.1f} {:>11.1f}", op.name, shapes_of(given.inputs), times.forward,
             times.backward);
  if (op.reference) {
    const double reference = time_of(op.reference, given).both();
    fmt::print(table, " {:>12.1f} {:>6.2f}", reference, reference / times.both());
  }
  table << std::endl;
}

}  // namespace

int bench_op_cases(const std::string& filter, std::ostream& table, std::ostream& errors) {
  std::vector<OpCase> chosen;
  std::ranges::copy_if(all_op_cases(), std::back_inserter(chosen),
                       [&](const OpCase& op) { return op.name.find(filter) != std::string::npos; });
  if (chosen.empty()) {
    fmt::print(errors, "[bench] wanted a part of a case's name, came \"{}\"\n", filter);
    return 2;
  }
  fmt::print(table, "{:<32} {:<36} {:>11} {:>11} {:>12} {:>6}\n", "case", "inputs", "forward us",
             "backward us", "reference us", "ratio");
  for (const OpCase& op : chosen) bench(op, table);
  return 0;
}

}  // namespace heed::test
