#include <benchmark/benchmark.h>

#include <array>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/additive_score.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/attention.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/cross_entropy.h>
#include <heed/tensor/kernels/dropout.h>
#include <heed/tensor/kernels/embedding.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/kernels/gelu.h>
#include <heed/tensor/kernels/gru_cell.h>
#include <heed/tensor/kernels/index.h>
#include <heed/tensor/kernels/join.h>
#include <heed/tensor/kernels/layer_norm.h>
#include <heed/tensor/kernels/logsumexp.h>
#include <heed/tensor/kernels/matmul.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/rms_norm.h>
#include <heed/tensor/kernels/softmax.h>
#include <heed/tensor/kernels/sort.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/kernels/variance.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

namespace {

using namespace heed;

/// Square matrices and rows of 1024: what fits in a cache, and what does not.
void sizes(benchmark::internal::Benchmark* bench) { bench->Args({64, 1024})->Args({4096, 4096}); }

/// Times f(x, &y) on a (rows, columns) tensor and reports the bytes that one reading and one writing move.
template <class F>
void over_rows(benchmark::State& state, F f) {
  const Tensor x = rand_normal({state.range(0), state.range(1)});
  Tensor y = zeros_like(x);
  for (auto _ : state) {
    f(x, &y);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * x.numel() * 8);
}

/// What the memory allows: a plain loop that copies, on all threads.
void copy_loop(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) {
    const float* from = x.data<float>();
    float* to = y->mutable_data<float>();
#pragma omp parallel for simd num_threads(num_threads())
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i];
  });
}
BENCHMARK(copy_loop)->Apply(sizes);

void add(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) { kernels::add(x, x, y); });
}
BENCHMARK(add)->Apply(sizes);

void exp(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) { kernels::exp(x, y); });
}
BENCHMARK(exp)->Apply(sizes);

void tanh(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) { kernels::tanh(x, y); });
}
BENCHMARK(tanh)->Apply(sizes);

void gelu(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) { kernels::gelu(x, kernels::GeluForm::exact, y); });
}
BENCHMARK(gelu)->Apply(sizes);

void max_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::max(x, {1})); });
}
BENCHMARK(max_rows)->Apply(sizes);

void var_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::var(x, {1})); });
}
BENCHMARK(var_rows)->Apply(sizes);

void logsumexp_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::logsumexp(x, {1})); });
}
BENCHMARK(logsumexp_rows)->Apply(sizes);

void softmax(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) { kernels::softmax(x, -1, y); });
}
BENCHMARK(softmax)->Apply(sizes);

void layer_norm(benchmark::State& state) {
  const Tensor weight = ones({state.range(1)}), bias = zeros({state.range(1)});
  over_rows(state, [&](const Tensor& x, Tensor* y) { kernels::layer_norm(x, weight, bias, 1e-5, y); });
}
BENCHMARK(layer_norm)->Apply(sizes);

void masked_softmax(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) {
    Tensor scores = y->unsqueeze(0);
    kernels::masked_softmax(x.unsqueeze(0), {.causal = true}, &scores);
  });
}
BENCHMARK(masked_softmax)->Apply(sizes);

void where(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor* y) {
    benchmark::DoNotOptimize(kernels::where(kernels::gt(x, *y), x, *y));
  });
}
BENCHMARK(where)->Apply(sizes);

void cast_to_bf16(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(x.to(DType::bf16)); });
}
BENCHMARK(cast_to_bf16)->Apply(sizes);

void concat(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) {
    const std::array parts{x, x};
    benchmark::DoNotOptimize(kernels::concat(parts, 1));
  });
}
BENCHMARK(concat)->Apply(sizes);

void top_k(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::top_k(x, -1, 5)); });
}
BENCHMARK(top_k)->Apply(sizes);

void cumulative_sum(benchmark::State& state) {
  over_rows(state,
            [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::cumulative_sum(x, -1)); });
}
BENCHMARK(cumulative_sum)->Apply(sizes);

void sum_rows(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::sum(x, {1})); });
}
BENCHMARK(sum_rows)->Apply(sizes);

void sum_columns(benchmark::State& state) {
  over_rows(state, [](const Tensor& x, Tensor*) { benchmark::DoNotOptimize(kernels::sum(x, {0})); });
}
BENCHMARK(sum_columns)->Apply(sizes);

void rms_norm(benchmark::State& state) {
  const Tensor weight = ones({state.range(1)});
  over_rows(state, [&](const Tensor& x, Tensor*) {
    benchmark::DoNotOptimize(kernels::rms_norm(x, weight, 1e-5).y);
  });
}
BENCHMARK(rms_norm)->Apply(sizes);

void dropout(benchmark::State& state) {
  Generator generator;
  over_rows(state, [&](const Tensor& x, Tensor*) {
    benchmark::DoNotOptimize(kernels::dropout(x, kernels::dropout_mask(x.shape(), 0.1, generator), 0.1));
  });
}
BENCHMARK(dropout)->Apply(sizes);

void matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Tensor a = rand_normal({n, n}), b = rand_normal({n, n});
  Tensor c;
  for (auto _ : state) kernels::matmul(a, b, &c);
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

/// batch 64, hidden 256
void gru_cell(benchmark::State& state) {
  const Tensor gates = rand_normal({64, 3 * 256}), h = rand_normal({64, 256});
  for (auto _ : state) benchmark::DoNotOptimize(kernels::gru_cell(gates, gates, h).h);
}
BENCHMARK(gru_cell);

/// 64 sentences of 32 words, width 256
void embedding(benchmark::State& state) {
  const Tensor table = rand_normal({4000, 256}), ids = rand_integers({64, 32}, 0, 4000);
  for (auto _ : state) benchmark::DoNotOptimize(kernels::embedding(table, ids));
}
BENCHMARK(embedding);

void embedding_backward(benchmark::State& state) {
  const Tensor grad = rand_normal({64, 32, 256}), ids = rand_integers({64, 32}, 0, 4000);
  for (auto _ : state) benchmark::DoNotOptimize(kernels::embedding_backward(grad, ids, 4000, 0));
}
BENCHMARK(embedding_backward);

void gather(benchmark::State& state) {
  const Tensor x = rand_normal({2048, 1024}), ids = rand_integers({2048, 64}, 0, 1024);
  for (auto _ : state) benchmark::DoNotOptimize(kernels::gather(x, 1, ids));
}
BENCHMARK(gather);

}  // namespace
