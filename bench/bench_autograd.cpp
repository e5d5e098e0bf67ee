#include <benchmark/benchmark.h>
#include <heed/autograd/anomaly.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

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

/// Additive attention of 512 queries to 512 keys, batch 8, hidden 256, forward and backward; `rise` is the
/// memory that it takes at its peak, with the gradients. bench/peer/additive_attention.py is the composed
/// form.
void additive_attention(benchmark::State& state) {
  constexpr int64_t kBatch = 8, kWords = 512, kHidden = 256;
  const Shape shape{kBatch, kWords, kHidden};
  Variable q(rand_normal(shape), true), k(rand_normal(shape), true), v(rand_normal(shape), true),
      weight(rand_normal({kHidden}), true);
  const int64_t before = memory_stats().current;
  reset_peak_memory();
  for (auto _ : state) {
    const Variable weights = softmax(additive_score(q, k, weight), -1);  // (batch, queries, keys)
    sum(matmul(weights, v)).backward();
    for (Variable* x : {&q, &k, &v, &weight}) x->zero_grad();
  }
  state.counters["rise MB"] = static_cast<double>(memory_stats().peak - before) / 1e6;
}
BENCHMARK(additive_attention)->Unit(benchmark::kMillisecond);

}  // namespace
