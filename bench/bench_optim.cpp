#include <benchmark/benchmark.h>
#include <heed/optim/adam.h>
#include <heed/optim/average.h>
#include <heed/optim/clip.h>
#include <heed/optim/rmsprop.h>
#include <heed/optim/sgd.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

namespace {

using namespace heed;

/// Norms and biases, and the matrices of a large model: tensors, and elements of each.
void sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({200, 64})->Args({20, 1 << 20})->ArgNames({"tensors", "elements"})->UseRealTime();
}

NamedVariables parameters_with_grads(const benchmark::State& state) {
  NamedVariables parameters;
  for (int64_t i = 0; i < state.range(0); ++i) {
    Variable parameter(rand_normal({state.range(1)}), true);
    parameter.set_grad(rand_normal({state.range(1)}));
    parameters.emplace_back(std::to_string(i), parameter);
  }
  return parameters;
}

/// Times f() and reports the bytes that it moves when it reads and writes `arrays` numbers per element.
template <class F>
void time_over_all(benchmark::State& state, int64_t arrays, F f) {
  f();  // makes the state
  for (auto _ : state) f();
  const int64_t elements = state.range(0) * state.range(1);
  state.SetBytesProcessed(state.iterations() * elements * arrays * 4);
  state.counters["per_tensor"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class O>
void step(benchmark::State& state, int64_t arrays) {
  O optimizer(parameters_with_grads(state));
  time_over_all(state, arrays, [&] { optimizer.step(); });
}

void adam(benchmark::State& state) { step<optim::Adam>(state, 7); }
BENCHMARK(adam)->Apply(sizes);

void adamw(benchmark::State& state) { step<optim::AdamW>(state, 7); }
BENCHMARK(adamw)->Apply(sizes);

void sgd(benchmark::State& state) { step<optim::SGD>(state, 3); }
BENCHMARK(sgd)->Apply(sizes);

void rmsprop(benchmark::State& state) { step<optim::RMSprop>(state, 5); }
BENCHMARK(rmsprop)->Apply(sizes);

void weight_average(benchmark::State& state) {
  optim::WeightAverage average(parameters_with_grads(state));
  time_over_all(state, 3, [&] { average.update(); });
}
BENCHMARK(weight_average)->Apply(sizes);

/// The norm alone: the limit is never exceeded.
void clip_grad_norm(benchmark::State& state) {
  std::vector<Variable> parameters;
  for (const auto& [name, parameter] : parameters_with_grads(state)) parameters.push_back(parameter);
  time_over_all(state, 1, [&] { optim::clip_grad_norm(parameters, 1e30); });
}
BENCHMARK(clip_grad_norm)->Apply(sizes);

}  // namespace
