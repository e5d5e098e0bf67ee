#include "translate/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <heed/tensor/error.h>

#include "tests/translate/scratch.h"

namespace heed::translate {
namespace {

TEST(MetricsFile, writes_a_line_of_json_each) {
  const Scratch scratch;
  const auto path = scratch.folder() / "metrics.jsonl";
  MetricsFile file(path, 0);
  file.add_step({.epoch = 1, .step = 50, .loss = 2.5, .lr = 0.005, .gradient_norms = {{"output", 0.5}}});
  EXPECT_EQ(contents_of(path),
            "{\"kind\":\"step\",\"epoch\":1,\"step\":50,\"loss\":2.5,\"lr\":0.005,\"gradient_norm\":0.0,"
            "\"tokens_per_s\":0.0,\"seconds\":0.0,\"gradient_norms\":{\"output\":0.5}}\n");
  file.add_epoch({.epoch = 1, .step = 60, .loss = 2}, 0.25);
  const std::string all = contents_of(path);
  const auto last = nlohmann::json::parse(all.substr(all.find('\n') + 1));
  EXPECT_EQ(last.at("kind"), "epoch");
  EXPECT_EQ(last.at("loss"), 2);
  EXPECT_EQ(last.at("floor"), 0.25);
}

TEST(MetricsFile, keeps_the_lines_up_to_the_step_that_is_gone_on_from) {
  const Scratch scratch;
  const auto path = scratch.file(
      "{\"step\":50}\n"
      "not json\n"
      "{\"step\":\"x\"}\n"
      "{\"step\":1.5}\n"
      "{\"kind\":\"step\"}\n"
      "[50]\n"
      "\"step\"\n"
      "{\"step\":60}\n"
      "{\"step\":61}\n"
      "{\"kind\":\"step\",\"st");
  MetricsFile file(path, 60);
  EXPECT_EQ(contents_of(path), "{\"step\":50}\n{\"step\":60}\n");
  file.add_step({.step = 61});
  EXPECT_EQ(contents_of(path).substr(24, 14), "{\"kind\":\"step\"");
}

TEST(MetricsFile, names_a_path_that_cannot_be_written) {
  const Scratch scratch;
  const std::string message =
      message_of<FileError>([&] { MetricsFile(scratch.folder() / "none" / "metrics.jsonl", 0); });
  EXPECT_NE(message.find("none/metrics.jsonl"), std::string::npos) << message;
}

}  // namespace
}  // namespace heed::translate
