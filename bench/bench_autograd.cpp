#include <benchmark/benchmark.h>
#include <heed/autograd/anomaly.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/creation.h>

/// What recording and walking a graph cost, on numbers so few that their arithmetic is nearly free.
/// bench/peer/autograd_chain.py measures the same in PyTorch.
namespace {

using namespace heed;

constexpr int64_t kWidth = 32, kLength = 10000;

Variable chain(Variable y, int64_t length) {
  for (int64_t i = 0; i < length; ++i) y = y + 1;
  return y;
}

void recorded_add(benchmark::State& state) {
  const Variable a(scalar(1), true), b(scalar(2), true);
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(recorded_add);

void recorded_add_in_scope(benchmark::State& state) {
  const Scope scope("decoder.layers.0");
  recorded_add(state);
}
BENCHMARK(recorded_add_in_scope);

void recorded_add_in_anomaly_mode(benchmark::State& state) {
  const AnomalyMode guard;
  recorded_add(state);
}
BENCHMARK(recorded_add_in_anomaly_mode);

void add_without_recording(benchmark::State& state) {
  const Variable a = scalar(1), b = scalar(2);
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(add_without_recording);

void chain_forward(benchmark::State& state) {
  const Variable x(ones({kWidth}), true);
  for (auto _ : state) {
    Variable y = chain(x, kLength);
    state.PauseTiming();
    y = {};
    state.ResumeTiming();
  }
}
BENCHMARK(chain_forward)->Unit(benchmark::kMillisecond);

void chain_backward(benchmark::State& state) {
  const AnomalyMode guard(state.range(0) != 0);
  Variable x(ones({kWidth}), true);
  const Variable upstream = ones({kWidth});
  for (auto _ : state) {
    state.PauseTiming();
    {
      const Variable y = chain(x, kLength);
      state.ResumeTiming();
      y.backward(upstream);
      state.PauseTiming();
    }
    x.zero_grad();
    state.ResumeTiming();
  }
}
BENCHMARK(chain_backward)->ArgName("anomaly")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
