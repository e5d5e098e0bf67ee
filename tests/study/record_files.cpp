#include <heed/study/record_files.h>

#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/study/recorder.h>

#include <nlohmann/json.hpp>

#include "tests/nn/helpers.h"

namespace heed::study {
namespace {

using namespace heed::test;

/// One layer, called twice in a step.
StepRecord two_calls() {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  Recorder recorder(layer, {"*"});
  const Variable x(random_tensor({1, 3, 8}), true);
  sum(layer(x) + layer(x * 2)).backward();
  return recorder.record();
}

TEST(RecordFilesTest, a_line_of_json_has_all_statistics) {
  const StepRecord step = two_calls();
  const std::string line = to_json(step);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("step"), 1);
  ASSERT_EQ(json.at("attention").size(), 2);
  const auto& head = json.at("attention").at(1).at("heads").at(0);
  EXPECT_EQ(head.at("entropy"), step.attention[1].heads[0].entropy);
  EXPECT_EQ(head.size(), 11);
  EXPECT_EQ(json.at("attention").at(0).at("flows").at(0).at("shares").at("query").size(), 2);
  EXPECT_EQ(json.at("parameters").size(), 8);
  EXPECT_GT(json.at("parameters").at("q_proj.weight").at("gradient_norm"), 0);
}

TEST(RecordFilesTest, what_is_not_finite_is_null) {
  StepRecord step;
  step.points.push_back({"x.output", {}, {}, {std::nan("")}, {1}});
  EXPECT_EQ(nlohmann::json::parse(to_json(step)).at("points").at(0).at("value_norms").at(0), nullptr);
}

TEST(RecordFilesTest, tensors_come_back_under_their_names) {
  const StepRecord step = two_calls();
  const auto path = std::filesystem::path(testing::TempDir()) / "record.safetensors";
  save_tensors(path, step);
  const auto tensors = load_safetensors(path.string()).tensors;
  EXPECT_TRUE(identical(tensors.at("attention.weights"), step.attention[0].values.at("weights")));
  EXPECT_TRUE(identical(tensors.at("attention#2.scores.grad"), step.attention[1].gradients.at("scores")));
  EXPECT_EQ(tensors.at("attention.flow.input.key").shape(), Shape({2, 1, 3, 8}));
  std::filesystem::remove(path);
  EXPECT_THROW(save_tensors(path / "not" / "there", step), FileError);
}

}  // namespace
}  // namespace heed::study
