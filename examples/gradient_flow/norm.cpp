#include "gradient_flow/norm.h"

#include <fmt/format.h>
#include <heed/nn/transformer_model.h>
#include <heed/study/recorder.h>
#include <heed/tensor/random.h>

#include <cmath>

#include "gradient_flow/data.h"
#include "translate/corpus/corpus.h"

namespace heed::gradient_flow {
namespace {

/// One model before training.
struct Measured {
  std::vector<double> by_layer;  // |gradient| of each feed_forward.outer.weight of the decoder
  double stream = 0;             // the root mean square of the last residual sum
};

std::string layer_name(int64_t layer, const char* what) {
  return fmt::format("decoder.layers.{}.{}", layer, what);
}

Measured measure(const NormOptions& options, nn::NormPlace place, int64_t layers, const Pairs& data) {
  nn::TransformerModel model({.source_vocabulary = data.source.size(),
                              .target_vocabulary = data.target.size(),
                              .stack = {.width = options.width,
                                        .feed_forward = options.width,
                                        .heads = 4,
                                        .layers = layers,
                                        .norm = place,
                                        .final_norm = place == nn::NormPlace::pre}});
  const std::string last = layer_name(layers - 1, "feed_forward_residual");
  study::Recorder recorder(model, {last}, {.tensors = false, .flows = false});
  const Sequences batch = side_by_side(data.encoded);
  loss_of(model, batch).backward();
  const study::StepRecord& step = recorder.record();

  Measured measured{std::vector<double>(static_cast<size_t>(layers)), 0};
  for (const auto& [name, statistics] : step.parameters)
    for (int64_t layer = 0; layer < layers; ++layer)
      if (name == layer_name(layer, "feed_forward.outer.weight"))
        measured.by_layer[static_cast<size_t>(layer)] = statistics.gradient_norm;
  const auto numbers = static_cast<double>(batch.target_in.numel() * options.width);
  for (const auto& point : step.points)
    if (point.name == last + ".residual") measured.stream = point.value_norms.at(0) / std::sqrt(numbers);
  return measured;
}

/// The mean over seeds.
Measured mean_of(const NormOptions& options, nn::NormPlace place, int64_t layers, const Pairs& data) {
  Measured mean{std::vector<double>(static_cast<size_t>(layers)), 0};
  const auto seeds = static_cast<double>(options.seeds);
  for (int64_t i = 0; i < options.seeds; ++i) {
    manual_seed(options.seed + static_cast<uint64_t>(i));
    const Measured one = measure(options, place, layers, data);
    for (size_t layer = 0; layer < mean.by_layer.size(); ++layer)
      mean.by_layer[layer] += one.by_layer[layer] / seeds;
    mean.stream += one.stream / seeds;
  }
  return mean;
}

std::vector<double> numbers(size_t count) {
  std::vector<double> result;
  for (size_t i = 1; i <= count; ++i) result.push_back(static_cast<double>(i));
  return result;
}

}  // namespace

NormResult measure_norm(const NormOptions& options) {
  const Pairs data(translate::corpus(options.batch, options.seed));
  NormResult result;
  std::vector<double> depths, post_norms, pre_norms, streams;
  for (const int64_t layers : options.layers) {
    const Measured post = mean_of(options, nn::NormPlace::post, layers, data);
    const Measured pre = mean_of(options, nn::NormPlace::pre, layers, data);
    result.depths.push_back(
        {static_cast<double>(layers), post.by_layer.back(), pre.by_layer.back(), pre.stream});
    result.post_by_layer = post.by_layer;
    result.pre_by_layer = pre.by_layer;
    depths.push_back(static_cast<double>(layers));
    post_norms.push_back(post.by_layer.back());
    pre_norms.push_back(pre.by_layer.back());
    streams.push_back(pre.stream);
  }
  result.post_power = fitted_power(depths, post_norms);
  result.pre_power = fitted_power(depths, pre_norms);
  result.stream_power = fitted_power(depths, streams);
  return result;
}

Findings findings_of(const NormResult& result) {
  Findings findings;
  Table table({"layers", "post-norm", "pre-norm", "stream", "pre-norm x stream"});
  std::vector<double> depths, post, pre;
  for (const auto& depth : result.depths) {
    table.add({fmt::format("{}", depth.layers), three_digits(depth.post), three_digits(depth.pre),
               three_digits(depth.stream), three_digits(depth.pre * depth.stream)});
    depths.push_back(depth.layers);
    post.push_back(depth.post);
    pre.push_back(depth.pre);
  }
  findings.tables.push_back(table);
  findings.seen = fmt::format(
      "The gradient of the last feed-forward layer's weights goes like layers^{:.2f} with post-norm, and "
      "like "
      "layers^{:.2f} with pre-norm, where the stream that the final norm divides by grows like "
      "layers^{:.2f}.",
      result.post_power, result.pre_power, result.stream_power);
  findings.page.title = "Pre-norm and post-norm before training";
  findings.page.charts = {
      {.title = "Gradient of the last feed-forward layer",
       .x_label = "layers",
       .y_label = "norm of the gradient",
       .log_x = true,
       .log_y = true,
       .lines = {line("post-norm", depths, post), line("pre-norm", depths, pre)}},
      {.title = "Gradient of each layer of the deepest model",
       .x_label = "layer",
       .y_label = "norm of the gradient",
       .log_y = true,
       .lines = {line("post-norm", numbers(result.post_by_layer.size()), result.post_by_layer),
                 line("pre-norm", numbers(result.pre_by_layer.size()), result.pre_by_layer)}}};
  return findings;
}

}  // namespace heed::gradient_flow
