#include <benchmark/benchmark.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/additive_score.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/attention.h>
#include <heed/tensor/kernels/cross_entropy.h>
#include <heed/tensor/kernels/dropout.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/kernels/layer_norm.h>
#include <heed/tensor/kernels/logsumexp.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/rms_norm.h>
#include <heed/tensor/kernels/softmax.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/kernels/variance.h>
#include <heed/tensor/random.h>

namespace {

using namespace heed;

/// Rows of 1024 numbers: what fits in a cache, and what does not.
void sizes(benchmark::internal::Benchmark* bench) { bench->Arg(64)->Arg(4096); }

/// Times f on a (rows, 1024) tensor and reports the bytes that one reading and one writing move.
template <class F>
void over_rows(benchmark::State& state, F f) {
  const Tensor x = rand_normal({state.range(0), 1024});
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
  state.SetBytesProcessed(state.iterations() * x.numel() * 8);
}

void add(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::add(x, x); });
}
BENCHMARK(add)->Apply(sizes);

void exp(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::exp(x); });
}
BENCHMARK(exp)->Apply(sizes);

void tanh(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::tanh(x); });
}
BENCHMARK(tanh)->Apply(sizes);

void sum_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::sum(x, {1}); });
}
BENCHMARK(sum_rows)->Apply(sizes);

void sum_columns(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::sum(x, {0}); });
}
BENCHMARK(sum_columns)->Apply(sizes);

void max_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::max(x, {1}); });
}
BENCHMARK(max_rows)->Apply(sizes);

void var_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::var(x, {1}); });
}
BENCHMARK(var_rows)->Apply(sizes);

void logsumexp_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::logsumexp(x, {1}); });
}
BENCHMARK(logsumexp_rows)->Apply(sizes);

void softmax(benchmark::State& state) {
  over_rows(state, [](const Tensor& x) { return kernels::softmax(x, -1); });
}
BENCHMARK(softmax)->Apply(sizes);

void layer_norm(benchmark::State& state) {
  const Tensor weight = ones({1024}), bias = zeros({1024});
  over_rows(state, [&](const Tensor& x) { return kernels::layer_norm(x, weight, bias, 1e-5).y; });
}
BENCHMARK(layer_norm)->Apply(sizes);

void rms_norm(benchmark::State& state) {
  const Tensor weight = ones({1024});
  over_rows(state, [&](const Tensor& x) { return kernels::rms_norm(x, weight, 1e-5).y; });
}
BENCHMARK(rms_norm)->Apply(sizes);

void dropout(benchmark::State& state) {
  Generator generator;
  over_rows(state, [&](const Tensor& x) {
    return kernels::dropout(x, kernels::dropout_mask(x.shape(), 0.1, generator), 0.1);
  });
}
BENCHMARK(dropout)->Apply(sizes);

void matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Tensor a = rand_normal({n, n}), b = rand_normal({n, n});
  for (auto _ : state) benchmark::DoNotOptimize(kernels::matmul(a, b));
  state.counters["FLOP/s"] =
      benchmark::Counter(2e0 * static_cast<double>(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(matmul)->RangeMultiplier(2)->Range(32, 2048);

void cross_entropy(benchmark::State& state) {
  const Tensor logits = rand_normal({1024, state.range(0)}),
               targets = rand_integers({1024}, 0, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(kernels::cross_entropy(logits, targets).losses);
}
BENCHMARK(cross_entropy)->Arg(200)->Arg(4000);

/// batch 64, 8 heads of 32, as many queries as keys
void attention(benchmark::State& state) {
  const Tensor x = rand_normal({64, state.range(0), 256});
  for (auto _ : state)
    benchmark::DoNotOptimize(kernels::attention(x, x, x, {.heads = 8, .scale = 0.18}).output);
}
BENCHMARK(attention)->Arg(10)->Arg(32)->Arg(128);

void attention_backward(benchmark::State& state) {
  const Tensor x = rand_normal({64, state.range(0), 256});
  const kernels::AttentionOptions options{.heads = 8, .scale = 0.18};
  const Tensor logsumexp = kernels::attention(x, x, x, options).logsumexp;
  for (auto _ : state)
    benchmark::DoNotOptimize(kernels::attention_backward(x, {}, x, x, x, logsumexp, options).q);
}
BENCHMARK(attention_backward)->Arg(10)->Arg(32)->Arg(128);

void additive_score(benchmark::State& state) {
  const Tensor x = rand_normal({8, state.range(0), 128}), weight = rand_normal({128});
  for (auto _ : state) benchmark::DoNotOptimize(kernels::additive_score(x, x, weight));
}
BENCHMARK(additive_score)->Arg(16)->Arg(128);

}  // namespace
