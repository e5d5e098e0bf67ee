#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

/// A file of pairs in which each word has one translation.
std::string small_data() {
  std::ostringstream text;
  for (const char* subject : {"i\tje", "you\ttu", "we\tnous"})
    for (const char* verb : {"run\tcours", "eat\tmange", "sleep\tdors"}) {
      const std::string s = subject, v = verb;
      text << s.substr(0, s.find('\t')) << ' ' << v.substr(0, v.find('\t')) << " .\t"
           << s.substr(s.find('\t') + 1) << ' ' << v.substr(v.find('\t') + 1) << " .\n";
    }
  return text.str();
}

class Program : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (scratch_.folder() / name).string(); }
  std::string train(const std::string& rest) const {
    write(path("pairs.tsv"), small_data());
    return "train --overwrite --data " + path("pairs.tsv") + " --out " + path("model") + " " + rest;
  }

  Scratch scratch_;
};

TEST_F(Program, RefusesDataThatItCannotUse) {
  expect_refused("train --data " + path("none.tsv") + " --out " + path("m"), 1, "none.tsv");
  write(path("empty.tsv"), "");
  expect_refused("train --data " + path("empty.tsv") + " --out " + path("m"), 1, "empty.tsv");
  write(path("no_tab.tsv"), "one line\n");
  expect_refused("train --data " + path("no_tab.tsv") + " --out " + path("m"), 1, "no_tab.tsv");
  EXPECT_FALSE(fs::exists(path("m")));
}

TEST_F(Program, RefusesOptionsThatItDoesNotKnow) {
  expect_refused(train("--preset huge"), 2, "wanted one of toy, small, base, came \"huge\"");
  expect_refused(train("--model rnn"), 2, "wanted bahdanau or transformer, came \"rnn\"");
  expect_refused("train --epochs 1 --out /dev/null/model", 1, "/dev/null/model: cannot make this folder");
  EXPECT_EQ(run("train").status, 2);
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run(train("--epochs 0")).status, 2);
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_FALSE(fs::exists(path("model")));
}

TEST_F(Program, NamesTheWordThatIsNoCommand) {
  const std::string wanted = "wanted train, infer, eval, study, corpus or bench, came ";
  expect_refused("infr --dir " + path("model"), 2, wanted + "\"infr\"");
  expect_refused("--dir " + path("model"), 2, wanted + "\"--dir\"");
  expect_refused("corpus more", 2, "more");
  expect_refused("corpus --pairs 0", 2, "--pairs: wanted a number of 1 or more, came \"0\" (");
  expect_refused("corpus --seed -1", 2,
                 "--seed: wanted a whole number from 0 to 18446744073709551615, came \"-1\"");
  EXPECT_EQ(run("corpus --pairs 3 --seed 1").status, 0);
}

TEST_F(Program, RefusesFoldersThatHoldNoModel) {
  expect_refused("infer --dir " + path("none") + " hello", 1, "config.json");
  fs::create_directory(path("broken"));
  write(path("broken") + "/config.json", "{\"model\": \"transformer\"");
  expect_refused("infer --dir " + path("broken") + " hello", 1, "config.json");
  write(path("broken") + "/config.json", "{\"model\": \"transformer\", \"width\": -1}");
  expect_refused("infer --dir " + path("broken") + " hello", 1, "came -1");
}

TEST_F(Program, RefusesAModelWhoseFilesDoNotBelongTogether) {
  ASSERT_EQ(run(train("--epochs 1")).status, 0);
  std::ofstream(path("model") + "/source.vocabulary", std::ios::app) << "another\n";
  expect_refused("infer --dir " + path("model") + " hello", 1, "source_embedding.weight");
}

TEST_F(Program, LearnsASmallLanguage) {
  for (const std::string model : {"transformer", "bahdanau"}) {
    ASSERT_EQ(run(train("--epochs 150 --model " + model)).status, 0);
    EXPECT_EQ(run("infer --dir " + path("model") + " 'You sleep.' 'we run.'").output,
              "tu dors .\nnous cours .\n")
        << model;
  }
}

TEST_F(Program, TrainsTheSameWithTheSameSeed) {
  const auto weights = [&](const std::string& options) {
    EXPECT_EQ(run(train("--epochs 3 " + options)).status, 0);
    std::ifstream file(path("model") + "/model.safetensors", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string first = weights("--seed 5");
  EXPECT_EQ(first, weights("--seed 5"));
  EXPECT_EQ(first, weights("--seed 5 --threads 1"));
  EXPECT_EQ(first, weights("--seed 5 --threads 3"));
  EXPECT_EQ(weights("--seed 5 --shards 1 --threads 1"), weights("--seed 5 --shards 1 --threads 2"));
  EXPECT_NE(first, weights("--seed 6"));
}

TEST_F(Program, CountsASourceOnceWhateverItsTranslations) {
  write(path("two.tsv"), "a\tx\na\ty\nb\tx\nb\ty\nc\tx\nc\ty\nd\tx\nd\ty\n");
  const Outcome outcome =
      run("train --data " + path("two.tsv") + " --holdout 2 --epochs 60 --out " + path("two"));
  const int sources = std::stoi(run("eval --dir " + path("two")).output);
  EXPECT_TRUE(sources > 0 && sources < 4) << sources;
  EXPECT_NE(outcome.output.find(fmt::format("Of {0} such sentences, {0} are translated", sources)),
            std::string::npos)
      << outcome.output;
}

TEST_F(Program, HoldsSourcesOut) {
  const Outcome outcome = run(train("--epochs 1 --holdout 3"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("Sentences that it has not seen"), std::string::npos) << outcome.output;
}

TEST(case_C35, OneLineOutForOneLineIn) {
  const Scratch scratch;
  const std::string data = (scratch.folder() / "pairs.tsv").string(),
                    model = (scratch.folder() / "model").string();
  write(data, small_data());
  ASSERT_EQ(run("train --data " + data + " --epochs 100 --out " + model).status, 0);
  write(scratch.folder() / "lines", "we run .\n\nyou eat .\n");
  EXPECT_EQ(run("infer --dir " + model + " < " + (scratch.folder() / "lines").string()).output,
            "nous cours .\n\ntu mange .\n");
}

}  // namespace
}  // namespace heed::translate
