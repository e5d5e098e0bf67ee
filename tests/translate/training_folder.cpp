#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/files/safetensors.h>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

/// What train and eval make of a folder that is not as a training leaves it.
class TrainingFolder : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    trained_ = std::make_unique<Scratch>();
    const Outcome outcome =
        run("train -q --data copy:3 --examples 60 --epochs 1 --out " + trained_->folder().string() + "/m");
    ASSERT_EQ(outcome.status, 0) << outcome.output;
  }
  static void TearDownTestSuite() { trained_.reset(); }

  TrainingFolder() { fs::copy(trained_->folder() / "m", folder()); }

  fs::path folder() const { return scratch_.folder() / "m"; }
  std::string begin(const std::string& options = "") const {
    return "train -q --data copy:3 --examples 60 --steps 1 --out " + folder().string() + " " + options;
  }
  std::string resume() const { return "train -q --resume --epochs 2 --out " + folder().string(); }
  std::string named(const std::string& reason) const { return folder().string() + ": " + reason; }

  void expect_checkpoint_refused(const char* key, const Tensor& value, const std::string& reason) const {
    const fs::path path = folder() / "checkpoint.safetensors";
    auto tensors = load_safetensors(path.string()).tensors;
    const Tensor good = std::exchange(tensors.at(key), value);
    save_safetensors(path.string(), tensors);
    expect_refused(resume(), 1, path.string() + ": not a checkpoint of this training: " + reason);
    tensors.at(key) = good;
    save_safetensors(path.string(), tensors);
  }

 private:
  static inline std::unique_ptr<Scratch> trained_;
  Scratch scratch_;
};

TEST_F(TrainingFolder, IsGoneOnWithOrReplacedWhenWhole) {
  expect_refused(
      begin(), 1,
      named("there is a model already: --resume goes on with its training, --overwrite begins anew"));
  EXPECT_EQ(run(resume()).status, 0);
  EXPECT_EQ(run(begin("--overwrite")).status, 0);
}

TEST_F(TrainingFolder, IsOnlyReplacedWhenAFileIsMissing) {
  for (const char* file : {"recipe.json", "checkpoint.safetensors", "config.json", "source.vocabulary",
                           "target.vocabulary", "model.safetensors"}) {
    const fs::path path = folder() / file, away = folder() / "away";
    fs::rename(path, away);
    expect_refused(begin(), 1, "of no training to go on with: --overwrite replaces it");
    expect_refused(resume(), 1,
                   named(std::string("wanted the folder of a training, came one without ") + file +
                         ": --overwrite begins anew"));
    fs::rename(away, path);
  }
  fs::remove(folder() / "checkpoint.safetensors");
  EXPECT_EQ(run(begin("--overwrite")).status, 0);
}

TEST_F(TrainingFolder, KeepsFilesOfTheSameNames) {
  for (const char* file : {"recipe.json", "checkpoint.safetensors", "config.json", "source.vocabulary",
                           "target.vocabulary", "model.safetensors", "metrics.jsonl"}) {
    fs::remove_all(folder());
    fs::create_directory(folder());
    write(folder() / file, "mine");
    expect_refused(begin(), 1, named(std::string("there is a ") + file + " already"));
    EXPECT_EQ(contents_of(folder() / file), "mine");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
  }
  EXPECT_EQ(run(begin("--overwrite")).status, 0);
  fs::remove_all(folder());
  fs::create_directory(folder());
  write(folder() / "notes", "mine");
  EXPECT_EQ(run(begin()).status, 0);
  EXPECT_EQ(contents_of(folder() / "notes"), "mine");
}

TEST_F(TrainingFolder, IsNamedWhenItsCheckpointIsNoneOfThisTraining) {
  const auto number = [](int64_t value) { return from_values<int64_t>(std::vector<int64_t>{value}, {}); };
  expect_checkpoint_refused("place/step", number(-5), "[training] wanted \"step\" in ");
  expect_checkpoint_refused("place/step", number(9223372036854775807), "[training] wanted \"step\" in ");
  expect_checkpoint_refused("place/tokens", number(-1), "[training] wanted \"tokens\" in ");
  expect_checkpoint_refused("place/loss_sum", full({}, NAN, DType::f64),
                            "[training] wanted \"loss_sum\" in ");
  expect_checkpoint_refused("place/loss_sum", number(1),
                            "[training] wanted a place with the f64 \"loss_sum\"");
  expect_checkpoint_refused("random/seed", full({}, 1, DType::f64), "[generator] ");
  expect_checkpoint_refused("model/output.weight", zeros({1}),
                            "[load_state_dict] wrong shape: output.weight");
}

TEST_F(TrainingFolder, GoesOnWithMetricsThatAreDamaged) {
  write(folder() / "metrics.jsonl", "{\"step\":\"x\"}\n{\"step\":1}\n");
  EXPECT_EQ(run(resume()).status, 0);
  EXPECT_TRUE(contents_of(folder() / "metrics.jsonl").starts_with("{\"step\":1}\n{\"kind\":\"epoch\""));
}

TEST_F(TrainingFolder, MayBeFromBeforeThereWereShards) {
  const fs::path path = folder() / "recipe.json";
  std::string recipe = contents_of(path);
  const size_t key = recipe.find("  \"shards\"");
  ASSERT_NE(key, std::string::npos);
  write(path, recipe.erase(key, recipe.find('\n', key) + 1 - key));
  EXPECT_EQ(run("eval --dir " + folder().string()).status, 0);
  EXPECT_EQ(run(resume()).status, 0);
  EXPECT_NE(contents_of(path).find("\"shards\": 1,"), std::string::npos);
}

TEST_F(TrainingFolder, HoldsTheAverageOfTheWeightsWhereOneIsTaken) {
  const auto weights = [&](const char* file) { return load_safetensors((folder() / file).string()).tensors; };
  ASSERT_EQ(run("train -q --data copy:3 --examples 60 --steps 20 --average 0.5 --overwrite --out " +
                folder().string())
                .status,
            0);
  const auto saved = weights("model.safetensors"), all = weights("checkpoint.safetensors");
  for (const auto& [name, tensor] : saved) {
    EXPECT_TRUE(identical(tensor, all.at("average/" + name + "/average"))) << name;
    EXPECT_FALSE(identical(tensor, all.at("model/" + name))) << name;
  }
}

}  // namespace
}  // namespace heed::translate
