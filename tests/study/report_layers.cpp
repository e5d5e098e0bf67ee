#include <heed/study/report_layers.h>

#include <heed/autograd/ops.h>
#include <heed/nn/transformer.h>
#include <heed/study/recorder.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;

std::vector<ReportToken> tokens(const std::vector<std::string>& words) {
  std::vector<ReportToken> all;
  for (const std::string& word : words) all.push_back({word});
  return all;
}

/// A decoder layer's cross-attention, on a batch whose second row has 2 queries and 3 keys that count.
StepRecord cross_attention() {
  nn::TransformerDecoderLayer layer({.width = 8, .feed_forward = 16, .heads = 2});
  Recorder recorder(layer, {"cross_attention"});
  const Variable x(random_tensor({2, 3, 8}), true), memory(random_tensor({2, 5, 8}, 4), true);
  layer(x, memory, nn::Mask::valid_lengths(ids({5, 3}))).backward(random_tensor({2, 3, 8}, 3));
  return recorder.record();
}

TEST(ReportLayersTest, shows_one_row_of_a_record_up_to_its_tokens) {
  const AttentionRecord record = cross_attention().attention.at(0);
  const ReportLayer layer = report_layer(record, 1, tokens({"le", "chat"}), tokens({"the", "cat", "."}));
  EXPECT_EQ(layer.name, "cross_attention");
  ASSERT_EQ(layer.weights.shape(), Shape({2, 2, 3}));
  ASSERT_EQ(layer.gradients.shape(), Shape({2, 2, 3}));
  EXPECT_EQ(layer.weights.at({1, 0, 2}), record.values.at("weights").at({1, 1, 0, 2}));
  EXPECT_EQ(layer.gradients.at({0, 1, 1}), record.gradients.at("weights").at({1, 0, 1, 1}));
  EXPECT_EQ(layer.entropy.shape(), Shape({2}));
  ASSERT_EQ(layer.flows.size(), 2);
  EXPECT_EQ(layer.flows[0].tokens.size(), 2) << "the input's places are queries";
  EXPECT_EQ(layer.flows[1].tokens.size(), 3) << "the memory's are keys";
  const ReportFlow::Part& residual = layer.flows[0].parts.at(1);
  EXPECT_EQ(residual.path, "residual");
  EXPECT_EQ(residual.share.shape(), Shape({1, 2}));
  EXPECT_EQ(residual.norm.at({0, 1}), record.flows[0].parts[1].norm.at({0, 1, 1}));
}

TEST(ReportLayersTest, wants_a_record_that_has_what_is_to_be_shown) {
  AttentionRecord record = cross_attention().attention.at(0);
  const auto words = tokens({"a"}), many = tokens({"a", "b", "c", "d"});
  expect_error<IndexError>([&] { report_layer(record, 2, words, words); },
                           "[report_layer] wanted a row in [0, 2), came 2");
  expect_error<ShapeError>(
      [&] { report_layer(record, 0, many, words); },
      "[report_layer] \"cross_attention\": wanted at most 3 queries and 5 keys, came 4 and 1 tokens");
  record.values.clear();
  expect_error<ValueError>(
      [&] { report_layer(record, 0, words, words); },
      "[report_layer] wanted a record with tensors, came one of \"cross_attention\" without weights");
}

TEST(ReportLayersTest, a_layer_is_a_name_up_to_its_number) {
  EXPECT_EQ(layer_of("decoder.layers.0.self_attention.q_proj.weight"), "decoder.layers.0");
  EXPECT_EQ(layer_of("layers.12"), "layers.12");
  EXPECT_EQ(layer_of("output.weight"), "output");
  EXPECT_EQ(layer_of("weight"), "weight");
  EXPECT_EQ(layer_of("encoder.norm2.weight"), "encoder");
}

TEST(ReportLayersTest, gradients_of_a_layer_have_one_norm) {
  const StepRecord step = cross_attention();
  double squares = 0;
  for (const ParameterRecord& parameter : step.parameters)
    if (parameter.name.starts_with("self_attention."))
      squares += parameter.statistics.gradient_norm * parameter.statistics.gradient_norm;
  EXPECT_NEAR(gradient_norms_by_layer(step.parameters).at("self_attention"), std::sqrt(squares), 1e-9);

  Variable a(tensor_of({1, 2}), true), b(tensor_of({3}), true), c(tensor_of({3}), true);
  (sum(a * 3) + sum(b * 4)).backward();
  const auto norms = gradient_norms_by_layer({{"x.a", a}, {"x.b", b}, {"y.c", c}});
  EXPECT_NEAR(norms.at("x"), std::sqrt(9 + 9 + 16), 1e-6);
  EXPECT_EQ(norms.at("y"), 0);
}

TEST(ReportLayersTest, the_chart_has_a_line_for_each_layer) {
  StepRecord first = cross_attention(), second = cross_attention();
  second.step = 2;
  const ReportChart chart = gradient_norm_chart({first, second});
  ASSERT_EQ(chart.lines.size(), gradient_norms_by_layer(first.parameters).size());
  EXPECT_EQ(chart.lines[0].x, (std::vector<double>{1, 2}));
  EXPECT_EQ(chart.lines[0].y.size(), 2);
}

}  // namespace
}  // namespace heed::study
