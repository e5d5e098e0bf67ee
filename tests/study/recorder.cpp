#include <heed/study/recorder.h>

#include <heed/autograd/checkpoint.h>
#include <heed/autograd/ops.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/optim/sgd.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;
using nn::Mask;

nn::TransformerModelOptions small_transformer(nn::NormPlace norm = nn::NormPlace::post, double dropout = 0) {
  return {
      .source_vocabulary = 11,
      .target_vocabulary = 13,
      .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 2, .dropout = dropout, .norm = norm}};
}

nn::BahdanauOptions small_bahdanau(nn::ScoreKind score, double dropout = 0) {
  return {.source_vocabulary = 11,
          .target_vocabulary = 13,
          .width = 8,
          .layers = 2,
          .dropout = dropout,
          .score = score};
}

const Tensor kSource = ids({{1, 2, 3, 4}, {5, 6, 0, 0}}), kLengths = ids({4, 2});
const Tensor kTargetIn = ids({{1, 2, 3}, {4, 5, 6}}), kTargetOut = ids({{2, 3, 4}, {5, 6, 0}});

Variable loss_of(nn::EncoderDecoder& model) {
  return nn::cross_entropy(model(kSource, kLengths, kTargetIn), kTargetOut, {.ignore_index = 0});
}

/// Trains some steps, recording or not, and gives the weights.
std::map<std::string, Tensor> train(nn::EncoderDecoder& model, Recorder* recorder) {
  manual_seed(7);
  optim::SGD optimizer(model.named_parameters(), {.lr = 0.1});
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    loss_of(model).backward();
    if (recorder != nullptr) recorder->record();
    optimizer.step();
  }
  return model.state_dict();
}

/// The same model twice: one is watched.
template <class Model, class Options>
void expect_same_training(const Options& options) {
  manual_seed(1);
  Model plain(options);
  manual_seed(1);
  Model watched(options);
  Recorder recorder(watched, {"*"});
  EXPECT_TRUE(same_numbers(train(watched, &recorder), train(plain, nullptr)));
  ASSERT_EQ(recorder.steps().size(), 3);
  EXPECT_EQ(recorder.steps()[2].step, 3);
  EXPECT_FALSE(recorder.steps()[0].attention.empty());
}

TEST(RecorderTest, changes_no_bit_of_a_training) {
  expect_same_training<nn::TransformerModel>(small_transformer(nn::NormPlace::pre, 0.1));
  nn::TransformerModelOptions additive = small_transformer(nn::NormPlace::post, 0.1);
  additive.stack.score = nn::each_head<nn::AdditiveScore>({.hidden = 3});
  expect_same_training<nn::TransformerModel>(additive);
  expect_same_training<nn::Bahdanau>(small_bahdanau(nn::ScoreKind::additive, 0.1));
  expect_same_training<nn::Bahdanau>(small_bahdanau(nn::ScoreKind::dot, 0.1));
}

const AttentionRecord& layer_of(const StepRecord& step, const std::string& name) {
  for (const AttentionRecord& layer : step.attention)
    if (layer.name == name) return layer;
  raise<ValueError>("no attention layer {} was recorded", name);
}

TEST(RecorderTest, gives_every_attention_layer_of_a_transformer_by_name) {
  nn::TransformerModel model(small_transformer());
  Recorder recorder(model, {"decoder.*.cross_attention", "encoder.*.self_attention"});
  loss_of(model).backward();
  const StepRecord& step = recorder.record();
  std::vector<std::string> names;
  for (const AttentionRecord& layer : step.attention) names.push_back(layer.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "encoder.layers.0.self_attention", "encoder.layers.1.self_attention",
                       "decoder.layers.0.cross_attention", "decoder.layers.1.cross_attention"}));
  const AttentionRecord& cross = layer_of(step, "decoder.layers.1.cross_attention");
  for (const char* point : {"scores", "weights"}) {
    EXPECT_EQ(cross.values.at(point).shape(), Shape({2, 2, 3, 4}));
    EXPECT_EQ(cross.gradients.at(point).shape(), Shape({2, 2, 3, 4}));
  }
  EXPECT_EQ(cross.gradients.at("query").shape(), Shape({2, 3, 8}));
  ASSERT_EQ(cross.heads.size(), 2);
  EXPECT_EQ(cross.heads[0].queries, 5) << "one of six target places is padding";
  EXPECT_GT(cross.heads[0].value_gradient, 0);
}

/// The gradients of weights, scores, queries, keys and values, by the formula in f64.
TEST(RecorderTest, gradients_are_those_of_the_composed_formula) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  layer.to(DType::f64);
  const Mask mask = Mask::valid_lengths(ids({6, 4})) & Mask::causal_order();
  const Variable x = f64_leaf({2, 6, 8}), upstream = random_tensor({2, 6, 8}, 9).to(DType::f64);
  Recorder recorder(layer, {""});
  sum(layer(x, mask) * upstream).backward();
  const AttentionRecord& record = recorder.record().attention.at(0);

  const auto leaf = [&](const char* point) { return Variable(record.values.at(point), true); };
  const auto split = [](const Variable& v) { return v.reshape({2, 6, 2, 4}).transpose(1, 2); };
  const Variable q = leaf("query"), k = leaf("key"), v = leaf("value");
  const Variable scores = matmul(split(q), split(k).transpose(2, 3)) / 2;
  const Variable weights = masked_softmax(scores, mask);
  const Variable heads = matmul(weights, split(v)).transpose(1, 2).reshape({2, 6, 8});
  const auto state = layer.state_dict();
  const Variable output = linear(heads, state.at("out_proj.weight"), state.at("out_proj.bias"));
  const Variable outputs[]{sum(output * upstream)}, inputs[]{q, k, v, scores, weights, heads};
  const auto wanted = grad(outputs, inputs);
  const char* points[]{"query", "key", "value", "scores", "weights", "heads"};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_TRUE(close(record.gradients.at(points[i]), wanted[i].data(), kF64)) << points[i];
}

TEST(RecorderTest, joins_the_queries_of_a_decoder_that_asks_step_by_step) {
  for (const nn::ScoreKind score : {nn::ScoreKind::additive, nn::ScoreKind::dot}) {
    nn::Bahdanau model(small_bahdanau(score));
    Recorder recorder(model, {"attention", "encoder.layers.*", "decoder.layers.1"});
    loss_of(model).backward();
    const StepRecord& step = recorder.record();
    ASSERT_EQ(step.attention.size(), 1);
    EXPECT_EQ(step.attention[0].values.at("weights").shape(), Shape({2, 1, 3, 4}));
    EXPECT_EQ(step.attention[0].gradients.at("scores").shape(), Shape({2, 1, 3, 4}));
    EXPECT_EQ(step.attention[0].gradients.at("value").shape(), Shape({2, 4, 8}));
    ASSERT_EQ(step.points.size(), 3);
    EXPECT_EQ(step.points[0].name, "encoder.layers.0.state");
    EXPECT_EQ(step.points[0].gradient_norms.size(), 4) << "a state for each source word";
    EXPECT_EQ(step.points[2].gradient_norms.size(), 3) << "and for each target word";
    for (const PointRecord& point : step.points)
      for (const double norm : point.gradient_norms) EXPECT_GT(norm, 0);
  }
}

TEST(RecorderTest, gives_the_second_run_of_a_checkpoint) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Variable x(random_tensor({2, 5, 8}), true);
  Recorder recorder(layer, {"*"});
  const auto record = [&](const std::function<Variable()>& run) {
    run().backward(random_tensor({2, 5, 8}, 2));
    return recorder.record().attention;
  };
  const auto plain = record([&] { return layer(x); });
  const auto again = record([&] { return checkpoint([&](const Variable& in) { return layer(in); }, x); });
  ASSERT_EQ(again.size(), 1);
  for (const char* point : {"weights", "scores", "query", "key", "value", "heads", "output"})
    EXPECT_TRUE(identical(again[0].gradients.at(point), plain[0].gradients.at(point))) << point;
}

TEST(RecorderTest, keeps_numbers_alone_when_no_tensors_are_asked_for) {
  nn::TransformerModel model(small_transformer());
  Recorder recorder(model, {"*"}, {.tensors = false});
  loss_of(model).backward();
  const StepRecord& step = recorder.record();
  ASSERT_FALSE(step.attention.empty());
  for (const AttentionRecord& layer : step.attention) {
    EXPECT_TRUE(layer.values.empty() && layer.gradients.empty());
    EXPECT_FALSE(layer.heads.empty());
    ASSERT_FALSE(layer.flows.empty());
    EXPECT_FALSE(layer.flows[0].whole.defined());
    EXPECT_FALSE(layer.flows[0].parts[0].total_share.empty());
  }
  EXPECT_EQ(step.parameters.size(), model.named_parameters().size());
}

TEST(RecorderTest, records_updates_of_parameters_from_record_to_record) {
  nn::Linear model({.inputs = 3, .outputs = 2, .bias = false});
  Recorder recorder(model, {"*"});
  optim::SGD optimizer(model.named_parameters(), {.lr = 0.5});
  double gradient = 0, weight = 0;
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    sum(model(Variable(random_tensor({4, 3})))).backward();
    const ParameterStatistics& seen = recorder.record().parameters.at(0).statistics;
    EXPECT_NEAR(seen.update_ratio, i == 0 ? 0 : 0.5 * gradient / weight, 1e-6);
    gradient = seen.gradient_norm;
    weight = seen.weight_norm;
    optimizer.step();
  }
}

TEST(RecorderTest, without_a_backward_pass_has_values_alone) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  Recorder recorder(layer, {"*"});
  layer(Variable(random_tensor({1, 3, 8})));
  const StepRecord step = recorder.record();
  EXPECT_TRUE(step.attention.at(0).gradients.empty());
  EXPECT_TRUE(step.attention[0].flows.empty());
  EXPECT_EQ(step.attention[0].heads.at(0).queries, 3);
  EXPECT_TRUE(recorder.record().attention.empty()) << "each record begins anew";
  layer(Variable(random_tensor({1, 3, 8})));
  recorder.discard();
  EXPECT_TRUE(recorder.record().attention.empty());
}

TEST(RecorderTest, keeps_as_many_of_the_last_steps_as_are_asked_for) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  Recorder recorder(layer, {"*"}, {.keep = 2});
  for (int64_t step = 1; step <= 4; ++step) {
    layer(Variable(random_tensor({1, step, 8})));
    EXPECT_EQ(recorder.record().step, step);
  }
  ASSERT_EQ(recorder.steps().size(), 2);
  EXPECT_EQ(recorder.steps()[0].step, 3);
  EXPECT_EQ(recorder.steps()[1].attention.at(0).values.at("input").size(1), 4);
}

TEST(RecorderTest, names_the_nearest_modules_when_none_fits) {
  nn::TransformerModel model(small_transformer());
  expect_error<ValueError>(
      [&] { Recorder(model, {"decoder.layers.0.cross_atention"}); },
      "[Recorder] no module is called \"decoder.layers.0.cross_atention\"; the nearest names are "
      "\"decoder.layers.0.cross_attention\", \"decoder.layers.1.cross_attention\", "
      "\"decoder.layers.0.self_attention\"");
}

TEST(RecorderTest, outlives_its_model) {
  auto model = std::make_unique<nn::TransformerModel>(small_transformer(nn::NormPlace::pre));
  Recorder recorder(*model, {"*"});
  loss_of(*model).backward();
  model.reset();
  EXPECT_EQ(recorder.record().attention.size(), 6);
  EXPECT_TRUE(recorder.record().attention.empty());
}

}  // namespace
}  // namespace heed::study
