#include <benchmark/benchmark.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/optim/adam.h>
#include <heed/study/recorder.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

#include <optional>

namespace {

using namespace heed;

/// The translator's toy and small Transformer, by width, and its fixed-length batches of 64.
struct Setting {
  int64_t vocabulary, width, feed_forward, heads, layers, length;
};
constexpr Setting kToy{300, 32, 64, 4, 2, 10}, kSmall{4000, 256, 1024, 8, 3, 16};

enum class Recording { none, statistics, flows, tensors };

/// A training step, recorded in one way or not at all.
void training_step(benchmark::State& state, const Setting& setting, Recording recording) {
  nn::TransformerModel model({.source_vocabulary = setting.vocabulary,
                              .target_vocabulary = setting.vocabulary,
                              .stack = {.width = setting.width,
                                        .feed_forward = setting.feed_forward,
                                        .heads = setting.heads,
                                        .layers = setting.layers,
                                        .dropout = 0.1}});
  optim::Adam optimizer(model.named_parameters(), {.lr = 0.001});
  const auto words = [&] { return rand_integers({64, setting.length}, 4, setting.vocabulary); };
  const Tensor source = words(), target_in = words(), target_out = words();
  const Tensor lengths = full({64}, static_cast<double>(setting.length), DType::i64);
  std::optional<study::Recorder> recorder;
  if (recording != Recording::none)
    recorder.emplace(model, std::vector<std::string>{"*attention"},
                     study::RecorderOptions{.tensors = recording == Recording::tensors,
                                            .flows = recording != Recording::statistics,
                                            .keep = 1});
  for (auto _ : state) {
    optimizer.zero_grad();
    nn::cross_entropy(model(source, lengths, target_in), target_out).backward();
    if (recorder) recorder->record();
    optimizer.step();
  }
}

void add(const char* name, const Setting& setting) {
  const std::pair<const char*, Recording> ways[]{{"unrecorded", Recording::none},
                                                 {"statistics", Recording::statistics},
                                                 {"statistics_and_flows", Recording::flows},
                                                 {"tensors_and_flows", Recording::tensors}};
  for (const auto& [way, recording] : ways)
    benchmark::RegisterBenchmark((std::string(name) + "/" + way).c_str(), training_step, setting, recording)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  add("toy_transformer", kToy);
  add("small_transformer", kSmall);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
