#include <heed/study/flow.h>

#include <heed/autograd/ops.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/transformer.h>
#include <heed/study/recorder.h>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;
using nn::Mask;

const FlowPart& part_of(const Flow& flow, const std::string& path) {
  for (const FlowPart& part : flow.parts)
    if (part.path == path) return part;
  raise<ValueError>("the flow has no part {}", path);
}

std::vector<std::string> paths_of(const Flow& flow) {
  std::vector<std::string> paths;
  for (const FlowPart& part : flow.parts) paths.push_back(part.path);
  return paths;
}

using Paths = std::vector<std::string>;

/// The parts add up to what the engine found, and the shares to 1.
void expect_whole(const Flow& flow, const Tensor& engine, Tolerance tolerance) {
  EXPECT_TRUE(close(flow.whole, engine, tolerance));
  Variable parts, shares;
  double total = 0;
  for (const FlowPart& part : flow.parts) {
    const Variable sum_of_part = sum(Variable(part.gradient), {0}), share = sum(Variable(part.share), {0});
    parts = parts.defined() ? parts + sum_of_part : sum_of_part;
    shares = shares.defined() ? shares + share : share;
    for (const double of_head : part.total_share) total += of_head;
  }
  EXPECT_TRUE(close(parts.data(), engine, tolerance));
  EXPECT_NEAR(total, 1, 1e-6);
  for (const double share : shares.data().to_vector<double>())
    EXPECT_TRUE(std::abs(share - 1) < 1e-5 || share == 0) << share;
}

TEST(FlowTest, parts_of_self_attention_add_up_to_the_gradient_of_its_input) {
  for (const bool rotary : {false, true}) {
    nn::MultiHeadAttention layer({.width = 8, .heads = 2, .rotary = rotary});
    layer.to(DType::f64);
    Recorder recorder(layer, {"*"});
    const Variable x = f64_leaf({2, 5, 8});
    layer(x, Mask::valid_lengths(ids({5, 3}))).backward(random_tensor({2, 5, 8}, 3).to(DType::f64));
    const auto flows = recorder.record().attention.at(0).flows;
    ASSERT_EQ(flows.size(), 1);
    EXPECT_EQ(flows[0].input, "input");
    EXPECT_EQ(paths_of(flows[0]), (Paths{"query", "key", "value"}));
    EXPECT_EQ(flows[0].parts[0].gradient.shape(), Shape({2, 2, 5, 8}));
    EXPECT_EQ(flows[0].parts[0].norm.shape(), Shape({2, 2, 5}));
    expect_whole(flows[0], x.grad().data(), kF64);
  }
}

/// Lets gradient through one head of one path only, and asks the engine for that of x.
Tensor gradient_by(nn::MultiHeadAttention& layer, const Variable& x, const std::string& path, int64_t head) {
  std::vector<HookHandle> edits;
  for (const std::string name : {"query", "key", "value"})
    edits.push_back(layer.register_point_edit(name, [&, name](const nn::Point& point) {
      const Variable stopped = point.value.detach();
      if (name != path) return stopped;
      const Variable columns[]{head == 0 ? point.value.slice(2, 0, 4) : stopped.slice(2, 0, 4),
                               head == 1 ? point.value.slice(2, 4, 8) : stopped.slice(2, 4, 8)};
      return concat(columns, 2);
    }));
  const Variable outputs[]{layer(x)}, inputs[]{x};
  const Variable upstream[]{random_tensor({2, 5, 8}, 3).to(DType::f64)};
  return grad(outputs, inputs, upstream)[0].data();
}

TEST(FlowTest, the_part_of_a_head_is_what_comes_when_all_other_ways_are_closed) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  layer.to(DType::f64);
  const Variable x = f64_leaf({2, 5, 8});
  Recorder recorder(layer, {"*"});
  layer(x).backward(random_tensor({2, 5, 8}, 3).to(DType::f64));
  const Flow flow = recorder.record().attention.at(0).flows.at(0);
  for (const std::string path : {"query", "key", "value"})
    for (const int64_t head : {0, 1})
      EXPECT_TRUE(
          close(part_of(flow, path).gradient.select(0, head), gradient_by(layer, x, path, head), kF64))
          << path << " of head " << head;
}

TEST(FlowTest, any_score_of_several_heads_sends_its_gradient_by_the_same_ways) {
  const std::vector<std::pair<nn::ScoreChoice, Paths>> scores{
      {nn::each_head<nn::AdditiveScore>({.hidden = 3}), {"query", "key", "value"}},
      {nn::each_head<nn::BilinearScore>(), {"query", "key", "value"}},
      {nn::each_head<nn::GaussianScore>({.learnable = true}), {"query", "key", "value"}},
      {nn::each_head<nn::DotScore>({.scaled = false}), {"query", "key", "value"}},
      {nn::each_head<nn::KeyScore>(), {"key", "value"}},
      {nn::each_head<nn::UniformScore>(), {"value"}}};
  for (const auto& [score, paths] : scores) {
    nn::MultiHeadAttention layer({.width = 8, .heads = 2, .score = score});
    layer.to(DType::f64);
    Recorder recorder(layer, {""});
    const Variable x = f64_leaf({2, 5, 8});
    layer(x).backward(random_tensor({2, 5, 8}, 3).to(DType::f64));
    const AttentionRecord record = recorder.record().attention.at(0);
    EXPECT_EQ(record.heads.size(), 2);
    ASSERT_EQ(record.flows.size(), 1);
    EXPECT_EQ(record.flows[0].input, "input");
    EXPECT_EQ(paths_of(record.flows[0]), paths);
    expect_whole(record.flows[0], x.grad().data(), kF64);
    for (const std::string& path : paths)
      for (const int64_t head : {0, 1})
        EXPECT_TRUE(close(part_of(record.flows[0], path).gradient.select(0, head),
                          gradient_by(layer, x, path, head), kF64))
            << path << " of head " << head;
  }
}

TEST(FlowTest, the_residual_is_one_of_the_ways_into_a_block) {
  for (const nn::NormPlace place : {nn::NormPlace::pre, nn::NormPlace::post}) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      nn::TransformerEncoderLayer layer({.width = 8, .feed_forward = 16, .heads = 2, .norm = place});
      layer.to(dtype);
      Recorder recorder(layer, {"self_attention"});
      const Variable x(random_tensor({2, 5, 8}).to(dtype), true);
      layer(x, Mask::valid_lengths(ids({5, 3}))).backward(random_tensor({2, 5, 8}, 3).to(dtype));
      const auto flows = recorder.record().attention.at(0).flows;
      ASSERT_EQ(flows.size(), 1);
      EXPECT_EQ(paths_of(flows[0]), (Paths{"query", "key", "value", "residual"}));
      expect_whole(flows[0], x.grad().data(),
                   dtype == DType::f64 ? kF64 : Tolerance{.relative = 0, .absolute = 1e-6});
    }
  }
}

TEST(FlowTest, cross_attention_sends_some_to_its_input_and_some_to_the_memory) {
  for (const nn::NormPlace place : {nn::NormPlace::pre, nn::NormPlace::post}) {
    nn::TransformerDecoderLayer layer({.width = 8, .feed_forward = 16, .heads = 2, .norm = place});
    layer.to(DType::f64);
    Recorder recorder(layer, {"cross_attention", "cross_attention_residual"});
    const Variable x = f64_leaf({2, 3, 8}), memory(random_tensor({2, 5, 8}, 4).to(DType::f64), true);
    layer(x, memory, Mask::valid_lengths(ids({5, 3}))).backward(random_tensor({2, 3, 8}, 3).to(DType::f64));
    const StepRecord& step = recorder.record();
    const auto& flows = step.attention.at(0).flows;
    ASSERT_EQ(flows.size(), 2);
    EXPECT_EQ(paths_of(flows[0]), (Paths{"query", "residual"}));
    for (const PointRecord& point : step.points)
      if (point.name == "cross_attention_residual.input") expect_whole(flows[0], point.gradients.at(0), kF64);
    EXPECT_EQ(flows[1].input, "memory");
    EXPECT_EQ(paths_of(flows[1]), (Paths{"key", "value"}));
    expect_whole(flows[1], memory.grad().data(), kF64);
  }
}

TEST(FlowTest, attention_without_projections_passes_gradients_as_they_are) {
  nn::DotProductAttention layer;
  Recorder recorder(layer, {"*"});
  const Variable x = f64_leaf({2, 3, 4});
  const Variable y = x * 1;  // used here and, beside the attention, in the sum
  sum(layer(y, y, y) * random_tensor({2, 3, 4}, 5).to(DType::f64) + y * 100).backward();
  const Flow flow = recorder.record().attention.at(0).flows.at(0);
  EXPECT_TRUE(close((Variable(flow.whole) + 100).data(), x.grad().data(), kF64))
      << "the attention's part alone";
}

TEST(FlowTest, additive_attention_sends_its_keys_and_values_gradient_to_one_memory) {
  nn::AdditiveAttention layer({.query_width = 4, .key_width = 6, .hidden = 5});
  layer.to(DType::f64);
  Recorder recorder(layer, {"*"});
  const Variable q = f64_leaf({2, 3, 4}), memory(random_tensor({2, 5, 6}, 4).to(DType::f64), true);
  layer(q, memory, memory).backward(random_tensor({2, 3, 6}, 3).to(DType::f64));
  const auto flows = recorder.record().attention.at(0).flows;
  ASSERT_EQ(flows.size(), 2);
  expect_whole(flows[0], q.grad().data(), kF64);
  EXPECT_EQ(paths_of(flows[1]), (Paths{"key", "value"}));
  expect_whole(flows[1], memory.grad().data(), kF64);
}

TEST(FlowTest, a_transformer_of_any_score_sends_its_gradient_by_the_same_ways) {
  nn::TransformerDecoderLayer layer({.width = 8,
                                     .feed_forward = 16,
                                     .heads = 2,
                                     .norm = nn::NormPlace::pre,
                                     .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})});
  layer.to(DType::f64);
  Recorder recorder(layer, {"*_attention"});
  const Variable x = f64_leaf({2, 3, 8}), memory(random_tensor({2, 5, 8}, 4).to(DType::f64), true);
  layer(x, memory, Mask::valid_lengths(ids({5, 3}))).backward(random_tensor({2, 3, 8}, 3).to(DType::f64));
  const auto records = recorder.record().attention;
  ASSERT_EQ(records.size(), 2);
  expect_whole(records[0].flows.at(0), x.grad().data(), kF64);
  EXPECT_EQ(paths_of(records[0].flows[0]), (Paths{"query", "key", "value", "residual"}));
  expect_whole(records[1].flows.at(1), memory.grad().data(), kF64);
}

TEST(FlowTest, of_no_gradient_has_shares_of_0_and_no_nan) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  Recorder recorder(layer, {"*"});
  const Variable x(random_tensor({2, 5, 8}), true);
  layer(x).backward(zeros({2, 5, 8}));
  for (const FlowPart& part : recorder.record().attention.at(0).flows.at(0).parts) {
    EXPECT_TRUE(identical(part.share, zeros({2, 2, 5})));
    EXPECT_EQ(part.total_share, (std::vector<double>{0, 0}));
  }
}

TEST(FlowTest, wants_heads_that_divide_the_projection) {
  const Tensor grad = zeros({1, 2, 6});
  expect_error<ValueError>(
      [&] {
        flow_part({"query", grad, zeros({6, 6}), grad}, 4);
      },
      "[flow] wanted heads that divide the 6 columns of the query, came 4");
}

}  // namespace
}  // namespace heed::study
