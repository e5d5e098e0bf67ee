#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include <fmt/format.h>
#include <heed/tensor/files/safetensors.h>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "tests/translate/small_translator.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

/// The program's train and infer, on a small file of pairs that make some batches.
class TrainProgram : public testing::Test {
 protected:
  TrainProgram() {
    std::ofstream file(path("pairs.tsv"));
    for (int i = 0; i < 20; ++i)
      for (const SentencePair& pair : small_pairs())
        file << joined(pair.source) << '\t' << joined(pair.target) << '\n';
  }

  std::string path(const std::string& name) const { return (scratch_.folder() / name).string(); }
  std::string begin(const std::string& out, const std::string& rest) const {
    return "TRANSLATE train --data " + path("pairs.tsv") + " --out " + path(out) + " " + rest;
  }
  std::string resume(const std::string& out, const std::string& rest = "") const {
    return "TRANSLATE train --resume --out " + path(out) + " " + rest;
  }
  std::string bytes(const std::string& file) const { return contents_of(path(file)); }

  /// Both trainings have left the same model, and the same to go on from.
  void expect_same(const std::string& a, const std::string& b) const {
    for (const std::string file : {"/model.safetensors", "/checkpoint.safetensors"}) {
      ASSERT_FALSE(bytes(a + file).empty());
      EXPECT_TRUE(bytes(a + file) == bytes(b + file)) << file;
    }
  }

  /// The metrics of each epoch and of some steps, each once and in order.
  void expect_metrics(const std::string& out, int64_t epochs) const {
    std::istringstream lines(bytes(out + "/metrics.jsonl"));
    int64_t epoch = 0, step = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto metrics = nlohmann::json::parse(line);
      EXPECT_GE(metrics.at("step"), step) << line;
      step = metrics.at("step");
      EXPECT_TRUE(std::isfinite(metrics.at("loss").get<double>()));
      if (metrics.at("kind") == "epoch") {
        EXPECT_EQ(metrics.at("epoch"), ++epoch) << line;
        EXPECT_TRUE(metrics.contains("floor"));
      }
    }
    EXPECT_EQ(epoch, epochs);
  }

  void expect_refused(const std::string& command, int status, const std::string& reason) const {
    const Outcome outcome = run_shell(command);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << outcome.output;
    EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
  }

  Scratch scratch_;
};

TEST_F(TrainProgram, LeavesAModelACheckpointAndMetrics) {
  const Outcome outcome = run_shell(begin("m", "--epochs 4 --model bahdanau --score dot"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const char* file : {"config.json", "source.vocabulary", "target.vocabulary", "model.safetensors",
                           "checkpoint.safetensors", "recipe.json", "metrics.jsonl"})
    EXPECT_TRUE(fs::exists(path("m") + "/" + file)) << file;
  expect_metrics("m", 4);
  const auto config = nlohmann::json::parse(bytes("m/config.json"));
  EXPECT_EQ(config.at("model"), "bahdanau");
  EXPECT_EQ(config.at("score"), "dot");
  EXPECT_EQ(std::ranges::count(run_shell("TRANSLATE infer --dir " + path("m") + " 'i run .'").output, '\n'),
            1);
}

TEST_F(TrainProgram, EveryChoiceIsRebuiltFromItsFolder) {
  for (const std::string choice :
       {"--position learned", "--position rotary", "--position none --norm pre", "--norm pre",
        "--score additive", "--model bahdanau --score dot", "--model bahdanau --attentive",
        "--length 20 --dropout 0.3 --bucket", "--preset toy --warmup-steps 4 --lr 0.002"}) {
    ASSERT_EQ(run_shell(begin("m", "--overwrite -q --steps 2 " + choice)).status, 0) << choice;
    EXPECT_EQ(run_shell("TRANSLATE infer --dir " + path("m") + " 'i run .'").status, 0) << choice;
    EXPECT_EQ(run_shell(resume("m", "-q --steps 3 " + choice)).status, 0) << choice;
  }
}

TEST_F(TrainProgram, GoesOnToTheSameBits) {
  for (const std::string model : {"transformer", "bahdanau"}) {
    const std::string options = "--overwrite -q --warmup-steps 3 --seed 5 --model " + model;
    ASSERT_EQ(run_shell(begin("whole", options + " --epochs 4")).status, 0);
    ASSERT_EQ(run_shell(begin("parts", options + " --epochs 1")).status, 0);
    ASSERT_EQ(run_shell(resume("parts", "-q --steps 7")).status, 0);  // in the midst of the third epoch
    ASSERT_EQ(run_shell(resume("parts", "-q --epochs 4")).status, 0);
    expect_same("whole", "parts");
    expect_metrics("parts", 4);
  }
}

TEST_F(TrainProgram, GoesOnInBucketsToTheSameBits) {
  std::ofstream(path("pairs.tsv"), std::ios::app) << "i run and you run .\tje cours et tu cours .\n";
  const std::string options = "-q --bucket --seed 5 ";
  ASSERT_EQ(run_shell(begin("whole", options + "--epochs 4")).status, 0);
  ASSERT_EQ(run_shell(begin("parts", options + "--steps 5")).status, 0);
  ASSERT_EQ(run_shell(resume("parts", "-q --epochs 4")).status, 0);  // as it was begun
  expect_same("whole", "parts");
  ASSERT_EQ(run_shell(begin("plain", "-q --seed 5 --epochs 4")).status, 0);
  EXPECT_FALSE(bytes("plain/model.safetensors") == bytes("whole/model.safetensors"));
  expect_refused(resume("plain", "--bucket"), 1, "with --bucket false, came true");
}

TEST_F(TrainProgram, RemovesWhatAKilledSaveHasLeft) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 1")).status, 0);
  const std::string left = path("m/.heed-12-0123abcd.tmp"), other = path("m/.heed-notes.tmp");
  for (const std::string& command : {resume("m", "-q --steps 2"), begin("m", "-q --steps 1 --overwrite")}) {
    write(left, "half a checkpoint");
    write(other, "mine");
    ASSERT_EQ(run_shell(command).status, 0);
    EXPECT_FALSE(fs::exists(left)) << command;
    EXPECT_TRUE(fs::exists(other)) << command;
  }
}

TEST_F(TrainProgram, SurvivesBeingKilledAtAnyMoment) {
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run_shell(begin("whole", "-q --epochs 60")).status, 0);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(run_shell(begin("killed", "-q --steps 1")).status, 0);
  uint64_t random = 1;
  int killed = 0;
  for (int attempt = 1; attempt <= 100; ++attempt) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const double seconds = whole.count() * (0.1 + 0.4 * static_cast<double>(random >> 40) / (1 << 24));
    const Outcome outcome =
        run_shell(fmt::format("timeout -s KILL {:.4f} {} train --resume -q --threads 1 --epochs 60 --out {}",
                              seconds, test::program_path("translate"), path("killed")));
    if (outcome.status == 0) break;
    ASSERT_EQ(outcome.status, 137) << outcome.output;
    ++killed;
    const Outcome asked = run_shell("TRANSLATE infer --dir " + path("killed") + " 'i run .'");
    ASSERT_EQ(asked.status, 0) << asked.output;
  }
  EXPECT_GT(killed, 0);
  expect_same("whole", "killed");
  expect_metrics("killed", 60);
}

TEST_F(TrainProgram, EndsWithACheckpointWhenAsked) {
  for (const auto& [signal, status] : std::vector<std::pair<std::string, int>>{{"INT", 130}, {"TERM", 143}}) {
    const std::string out = "stopped" + signal;
    // An interactive shell's background job would ignore Ctrl-C; env sets it back.
    const Outcome outcome =
        run_shell("env --default-signal=INT HEED_NUM_THREADS=1 " + test::program_path("translate") +
                  " train --data " + path("pairs.tsv") + " --epochs 100000 --out " + path(out) +
                  " & pid=$!; for i in $(seq 600); do [ -s " + path(out) +
                  "/metrics.jsonl ] && break; sleep 0.1; done; kill -" + signal + " $pid; wait $pid");
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_NE(outcome.output.find("go on with: translate train --resume --out " + path(out)),
              std::string::npos)
        << outcome.output;
    const auto tensors = load_safetensors(path(out) + "/checkpoint.safetensors").tensors;
    const int64_t step = *tensors.at("place/step").data<int64_t>();
    EXPECT_GT(step, 0);
    ASSERT_EQ(run_shell(resume(out, fmt::format("-q --steps {}", step + 4))).status, 0);
    ASSERT_EQ(run_shell(begin("whole", fmt::format("-q --overwrite --steps {}", step + 4))).status, 0);
    expect_same("whole", out);
  }
}

TEST_F(TrainProgram, DoesNotReplaceAModelUnasked) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 1")).status, 0);
  const std::string before = bytes("m/model.safetensors");
  expect_refused(begin("m", "-q --steps 2"), 1,
                 "--resume goes on with its training, --overwrite begins anew");
  EXPECT_EQ(bytes("m/model.safetensors"), before);
  EXPECT_EQ(run_shell(begin("m", "-q --steps 2 --overwrite")).status, 0);
  EXPECT_NE(bytes("m/model.safetensors"), before);
  EXPECT_EQ(run_shell(begin("m", "--overwrite --resume")).status, 2);
}

TEST_F(TrainProgram, RefusesToGoOnWithSomethingElse) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 1")).status, 0);
  const std::string before = bytes("m/checkpoint.safetensors");
  expect_refused(resume("m", "--lr 0.5 --seed 3"), 1, "with --lr 0.005, came 0.5; --seed 0, came 3");
  expect_refused(resume("m", "--model bahdanau"), 1, "--model \"transformer\", came \"bahdanau\"");
  expect_refused(resume("none"), 1, "none: wanted the folder of a training, came one without recipe.json");
  std::ofstream(path("pairs.tsv"), std::ios::app) << "we run .\ttu dors .\n";
  expect_refused(resume("m", "-q"), 1, "examples that it was begun with, came others");
  EXPECT_EQ(bytes("m/checkpoint.safetensors"), before);
}

TEST_F(TrainProgram, RefusesACheckpointOfAnotherModelAndDamagedOnes) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 1")).status, 0);
  ASSERT_EQ(run_shell(begin("other", "-q --steps 1 --model bahdanau")).status, 0);
  fs::copy_file(path("other/checkpoint.safetensors"), path("m/checkpoint.safetensors"),
                fs::copy_options::overwrite_existing);
  expect_refused(resume("m", "-q"), 1, "checkpoint.safetensors: not a checkpoint of this training");
  fs::resize_file(path("m/checkpoint.safetensors"), 1000);
  expect_refused(resume("m", "-q"), 1, "checkpoint.safetensors");
  std::ofstream(path("m/recipe.json")) << "{";
  expect_refused(resume("m", "-q"), 1, "recipe.json: not a training's recipe");
  fs::remove(path("m/checkpoint.safetensors"));
  expect_refused(resume("m", "-q"), 1, "came one without checkpoint.safetensors");
  fs::copy_file(path("other/model.safetensors"), path("m/model.safetensors"),
                fs::copy_options::overwrite_existing);
  expect_refused("TRANSLATE infer --dir " + path("m") + " hello", 1, "cannot be loaded");
}

TEST_F(TrainProgram, StopsAtALossThatIsNotFinite) {
  const Outcome outcome = run_shell(begin("m", "-q --lr 1e30 --epochs 5"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("[train] "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("step "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\"source_embedding.weight\""), std::string::npos) << outcome.output;
  EXPECT_EQ(run_shell("TRANSLATE infer --dir " + path("m") + " 'i run .'").status, 0);
}

TEST_F(TrainProgram, SaysWhatIsWrongWithItsOptions) {
  expect_refused(begin("m", "--epochs 2 --steps 3"), 2, "--epochs excludes --steps");
  expect_refused(begin("m", "--examples some"), 2,
                 "wanted \"all\" or a number from 1 to 1000000000, came \"some\"");
  expect_refused(begin("m", "--lr 0"), 2, "--lr: wanted a number above 0, came \"0\"");
  expect_refused(begin("m", "--threads 0"), 2, "--threads");
  expect_refused(begin("m", "--shards 0"), 2, "--shards: wanted a number of 1 or more, came \"0\"");
  expect_refused(begin("m", "--shards 99999999999999999999"), 2, "--shards: wanted a number of 1024 or less");
  expect_refused(begin("m", "--epochs 9223372036854775807"), 2,
                 "--epochs: wanted a number of 1000000000 or less");
  expect_refused(begin("m", "--steps 1000000001"), 2, "--steps: wanted a number of 1000000000 or less");
  expect_refused(begin("m", "--examples 1000000001"), 2, "or a number from 1 to 1000000000");
  expect_refused(begin("m", "--seed -1"), 2, "--seed: wanted a whole number from 0 to 18446744073709551615");
  expect_refused(begin("m", "--seed 18446744073709551616"), 2, "--seed");
  expect_refused(begin("m", "--dropout 1.5"), 2, "--dropout");
  expect_refused(begin("m", "--length 1"), 2, "--length");
  expect_refused(begin("m", "--length 65537"), 2, "--length");
  expect_refused(begin("m", "--score cosine"), 2, "wanted additive or dot, came \"cosine\"");
  expect_refused(begin("m", "--position none --model bahdanau"), 2,
                 "wanted --position with --model transformer");
  expect_refused(begin("m", "--norm middle"), 2, "wanted pre or post, came \"middle\"");
  expect_refused(begin("m", "--log-level loud"), 2, "came \"loud\"");
  expect_refused("TRANSLATE infer --dir " + path("m") + " --beam 0", 2,
                 "wanted a number of 1 or more, came \"0\"");
  expect_refused("TRANSLATE walk", 2, "bench, came \"walk\"");
  const std::string variable = "wanted HEED_NUM_THREADS to be a number from 1 to 1024, came \"abc\"";
  expect_refused("HEED_NUM_THREADS=abc; " + begin("m", "--threads 1"), 1, variable);
  EXPECT_FALSE(fs::exists(path("m")));
  for (const std::string command : {"train", "infer", "bench"}) {
    const Outcome help = run_shell("TRANSLATE " + command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.output.find("--log-level"), std::string::npos) << help.output;
  }
}

TEST_F(TrainProgram, LogsAsMuchAsWanted) {
  EXPECT_EQ(run_shell(begin("m", "--quiet --steps 1")).output, "");
  EXPECT_EQ(run_shell(begin("m", "--overwrite --log-level error --steps 1")).output, "");
  const auto usual = run_shell(begin("m", "--overwrite --steps 1")).output;
  EXPECT_NE(usual.find("tokens/s"), std::string::npos);
  EXPECT_EQ(usual.find("saved step 1"), std::string::npos);
  EXPECT_NE(run_shell(begin("m", "--overwrite -v --steps 1")).output.find("saved step 1"), std::string::npos);
}

TEST_F(TrainProgram, MeasuresItsSteps) {
  const Outcome outcome =
      run_shell("TRANSLATE bench --data " + path("pairs.tsv") + " --steps 3 --warmup 1 --threads 1 --json");
  EXPECT_EQ(outcome.status, 0);
  const auto result = nlohmann::json::parse(outcome.output);
  for (const char* key : {"peer", "model", "preset", "threads", "dtype", "params", "vocab", "batch", "length",
                          "loss", "ms_per_step", "min_ms", "tokens_per_s", "peak_rss_mb"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_GE(result.at("ms_per_step"), result.at("min_ms"));
  EXPECT_GT(result.at("min_ms"), 0);
  // Encoder and decoder layers, their last norms, two embeddings of 11 words, and the output layer.
  EXPECT_EQ(result.at("params"), 2 * 8544 + 2 * 12832 + 2 * 64 + 2 * 11 * 32 + 11 * 33);
}

TEST_F(TrainProgram, case_C31_AFullDiskLeavesTheLastCheckpoint) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 2")).status, 0);
  const std::string before = bytes("m/checkpoint.safetensors"), model = bytes("m/model.safetensors");
  ASSERT_GT(before.size(), 8192);
  const auto files = [&] { return std::distance(fs::directory_iterator(path("m")), {}); };
  const auto count = files();

  const Outcome reported = run_shell("trap '' XFSZ; ulimit -f 8; " + resume("m", "-q --steps 4"));
  EXPECT_EQ(reported.status, 1) << reported.output;
  EXPECT_NE(reported.output.find(path("m/checkpoint.safetensors")), std::string::npos) << reported.output;
  EXPECT_EQ(files(), count);
  EXPECT_EQ(bytes("m/checkpoint.safetensors"), before);

  EXPECT_NE(run_shell("ulimit -f 8; ulimit -c 0; " + resume("m", "-q --steps 4")).status, 0);
  EXPECT_EQ(bytes("m/checkpoint.safetensors"), before);
  EXPECT_EQ(bytes("m/model.safetensors"), model);

  ASSERT_EQ(run_shell(resume("m", "-q --steps 4")).status, 0);
  ASSERT_EQ(run_shell(begin("whole", "-q --steps 4")).status, 0);
  expect_same("whole", "m");
}

TEST_F(TrainProgram, InfersOneLineForEachLine) {
  ASSERT_EQ(run_shell(begin("m", "-q --epochs 20")).status, 0);
  const std::string infer = "TRANSLATE infer --dir " + path("m");
  const auto lines = [&](const std::string& input, const std::string& options = "") {
    std::ofstream(path("lines"), std::ios::binary) << input;
    return run_shell(infer + " " + options + " < " + path("lines")).output;
  };
  EXPECT_EQ(lines(""), "");
  EXPECT_EQ(lines("\n"), "\n");
  EXPECT_EQ(lines("we run .\r\n\r\nyou eat ."), "nous cours .\n\ntu mange .\n");
  EXPECT_EQ(lines("we run .\n\nyou eat .\n", "--beam 4"), "nous cours .\n\ntu mange .\n");
  std::string many, wanted;
  for (int i = 0; i < 1300; ++i) {
    many += i % 3 == 0 ? "\n" : i % 3 == 1 ? "we run .\n" : "you eat .\n";
    wanted += i % 3 == 0 ? "\n" : i % 3 == 1 ? "nous cours .\n" : "tu mange .\n";
  }
  EXPECT_TRUE(lines(many) == wanted);
  const std::string picture = run_shell(infer + " --show-attention 'we run .'").output;
  EXPECT_TRUE(picture.starts_with("nous cours .\n\n      we\n")) << picture;
}

TEST_F(TrainProgram, NamesTheSentenceThatItCannotRead) {
  ASSERT_EQ(run_shell(begin("m", "-q --steps 1")).status, 0);
  std::ofstream(path("lines")) << "we run .\n\xFF\n";
  const Outcome outcome = run_shell("TRANSLATE infer --dir " + path("m") + " < " + path("lines"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("line 2: "), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace heed::translate
