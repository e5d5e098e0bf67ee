#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "translate/corpus/corpus.h"

namespace heed::translate {
namespace {

namespace fs = std::filesystem;

/// What follows `key` in the output: of JSON "bleu": or of text.
double number(const std::string& output, const std::string& key) {
  const size_t place = output.find(key);
  EXPECT_NE(place, std::string::npos) << key << " in " << output;
  return place == std::string::npos ? -1 : std::stod(output.substr(place + key.size()));
}

/// A folder with a trained model of copy:4, shared by the tests.
class EvalProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    const Outcome trained = run(
        "train --data copy:4 --examples 1500 --epochs 25 --warmup-steps 150 --holdout 5 --out " + model());
    ASSERT_EQ(trained.status, 0) << trained.output;
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static std::string path(const std::string& name) { return (scratch_->folder() / name).string(); }
  static std::string model() { return path("model"); }
  static std::string eval(const std::string& rest) { return "eval --dir " + model() + " " + rest; }

 private:
  static inline std::unique_ptr<Scratch> scratch_;
};

TEST_F(EvalProgram, ScoresWhatTrainingKeptOut) {
  const std::string output = run(eval("--json")).output;
  EXPECT_GT(number(output, "\"exact_match\":"), 0.9) << output;
  EXPECT_GT(number(output, "\"bleu\":"), 90) << output;
  EXPECT_GT(number(output, "\"token_accuracy\":"), 0.9) << output;
  EXPECT_EQ(number(output, "\"loss_floor\":"), 0) << output;
  EXPECT_EQ(number(output, "\"alignment_error_rate_lowest\":"), 0) << output;
  EXPECT_LT(number(output, "\"alignment_error_rate\":"), 0.3) << output;
  EXPECT_EQ(std::ranges::count(output, '\n'), 1) << output;
  const double sources = number(output, "\"sources\":");
  EXPECT_TRUE(sources > 200 && sources < 400) << output;
  EXPECT_EQ(number(run(eval("--json --data copy:4 --examples 1500 --holdout 5")).output, "\"sources\":"),
            sources);
}

TEST_F(EvalProgram, ModelsOfMadeUpLanguagesAreLongEnoughForThem) {
  ASSERT_EQ(run("train --data reverse:12 --examples 100 --steps 1 --out " + path("long")).status, 0);
  EXPECT_EQ(number(contents_of(path("long") + "/config.json"), "\"length\":"), 13);
  EXPECT_EQ(number(contents_of(model() + "/config.json"), "\"length\":"), 10);
}

TEST_F(EvalProgram, ScoresTheEmbeddedCorpusWhereNothingTellsOfTheTraining) {
  fs::copy(model(), path("bare"), fs::copy_options::recursive);
  fs::remove(path("bare") + "/recipe.json");
  const std::string output = run("eval --json --dir " + path("bare") + " --examples 240").output;
  const double sources = number(output, "\"sources\":");  // one in twelve
  EXPECT_TRUE(sources > 5 && sources < 50) << output;
  EXPECT_EQ(std::ranges::count(output, '\n'), 1) << output;
}

TEST_F(EvalProgram, TakesTheFileOfTheTrainingForThatHoweverItIsCalled) {
  std::ostringstream pairs;
  for (char c = 'a'; c <= 'z'; ++c) pairs << c << " a\t" << c << " a\n";
  fs::create_directory(path("folder"));
  write(path("folder/pairs.tsv"), pairs.str());
  const std::string data = " --data " + path("folder/pairs.tsv");
  ASSERT_EQ(run("train --steps 1 --holdout 4 --out " + path("own") + data).status, 0);
  const std::string wanted = run("eval --json --dir " + path("own")).output;
  EXPECT_LT(number(wanted, "\"sources\":"), 15) << wanted;
  EXPECT_EQ(run("eval --json --dir " + path("own") + data).output, wanted);
  EXPECT_EQ(
      run("eval --json --dir " + path("own") + " --data " + path("folder/../folder/./pairs.tsv")).output,
      wanted);
  EXPECT_EQ(number(run("eval --json --holdout 0 --dir " + path("own") + data).output, "\"sources\":"), 26);
}

TEST_F(EvalProgram, WarnsWhenNothingWasKeptOut) {
  ASSERT_EQ(run("train --data copy:3 --examples 50 --holdout 0 --steps 1 --out " + path("seen")).status, 0);
  const Outcome outcome = run("eval --dir " + path("seen"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("these are sentences that it was trained on"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("50 sources"), std::string::npos) << outcome.output;
}

TEST_F(EvalProgram, HoldsOutNothingWithAHoldoutOf0) {
  const Outcome outcome = run(eval("--holdout 0"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("these are sentences that it was trained on"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("1500 sources"), std::string::npos) << outcome.output;
}

TEST_F(EvalProgram, TellsTheSameInWords) {
  const std::string json = run(eval("--json")).output, text = run(eval("")).output;
  EXPECT_NEAR(number(text, "BLEU "), number(json, "\"bleu\":"), 0.006) << text;
  EXPECT_NEAR(number(text, "exact match "), 100 * number(json, "\"exact_match\":"), 0.06) << text;
  EXPECT_NEAR(number(text, "token accuracy "), 100 * number(json, "\"token_accuracy\":"), 0.06) << text;
  EXPECT_NEAR(number(text, "loss "), number(json, "\"loss\":"), 0.00006) << text;
  EXPECT_NEAR(number(text, "alignment error rate "), number(json, "\"alignment_error_rate\":"), 0.0006)
      << text;
}

TEST_F(EvalProgram, ScoresAFileWholeOrItsHeldOutPart) {
  std::ostringstream pairs;
  for (char c = 'a'; c <= 'z'; ++c) pairs << c << " a\t" << c << " a\n" << c << " a\t" << c << " b\n";
  write(path("pairs.tsv"), pairs.str());
  const std::string all = run(eval("--json --data " + path("pairs.tsv"))).output;
  EXPECT_EQ(number(all, "\"sources\":"), 26) << all;
  EXPECT_EQ(number(all, "\"pairs\":"), 52) << all;
  EXPECT_GT(number(all, "\"exact_match\":"), 0.9) << all;
  EXPECT_GT(number(all, "\"loss_floor\":"), 0.2) << all;  // two translations each
  EXPECT_EQ(all.find("alignment"), std::string::npos) << all;
  const std::string some = run(eval("--json --beam 3 --data " + path("pairs.tsv") + " --holdout 4")).output;
  EXPECT_EQ(2 * number(some, "\"sources\":"), number(some, "\"pairs\":")) << some;
  EXPECT_LT(number(some, "\"sources\":"), 15) << some;
  EXPECT_EQ(number(some, "\"beam\":"), 3) << some;
}

TEST_F(EvalProgram, SkipsBrokenLinesUnlessStrict) {
  write(path("broken.tsv"),
        "\xEF\xBB\xBF"
        "a b\ta b\r\n\r\nno tab\r\nc\tc\r\n");
  const std::string data = "--data " + path("broken.tsv");
  const std::string output = run(eval(data)).output;
  EXPECT_NE(output.find("line 2: wanted source, tab, target, came a blank line"), std::string::npos)
      << output;
  EXPECT_NE(output.find("line 3: wanted a tab, came none"), std::string::npos) << output;
  EXPECT_NE(output.find("2 lines skipped"), std::string::npos) << output;
  EXPECT_NE(output.find("2 sources"), std::string::npos) << output;
  write(path("worse.tsv"), "a\ta\n" + std::string(25, '\n'));
  EXPECT_NE(run(eval("--data " + path("worse.tsv"))).output.find("and 15 more such lines"),
            std::string::npos);
  expect_refused(eval(data + " --strict"), 1, "broken.tsv:2: wanted source, tab, target, came a blank line");
  expect_refused("train --strict " + data + " --out " + path("new"), 1, "broken.tsv:2: wanted source");
}

TEST_F(EvalProgram, RefusesWhatItCannotScore) {
  expect_refused(eval("--data " + path("none.tsv")), 1, "none.tsv: wanted a file of sentence pairs");
  write(path("empty.tsv"), "");
  expect_refused(eval("--data " + path("empty.tsv")), 1,
                 "empty.tsv: wanted sentence pairs, came an empty file");
  fs::create_directory(path("folder"));
  expect_refused(eval("--data " + path("folder")), 1, "Is a directory");
  expect_refused("eval --dir " + path("folder"), 1, "config.json");
  expect_refused("eval --dir " + path("none"), 1, "config.json");
  expect_refused(eval("--data sort:9"), 1, "sort:9: wanted a file of sentence pairs, copy:N or reverse:N");
  expect_refused(eval("--data ''"), 2, "wanted a file, copy:N or reverse:N, came \"\"");
  expect_refused(eval("--data '\xE9.tsv'"), 2, "--data: wanted valid UTF-8, came byte 0xE9");
  expect_refused(eval("--data copy:0"), 2, "wanted copy:N with N from 1 to 1000, came \"copy:0\"");
  write(path("one.tsv"), "a\ta\n");
  expect_refused(eval("--data " + path("one.tsv") + " --holdout 1000000"), 1, "came none in 1 pairs");
}

TEST_F(EvalProgram, RefusesOptionsThatItDoesNotKnow) {
  expect_refused(eval("--holdout -1"), 2, "--holdout");
  expect_refused(eval("--beam 0"), 2, "--beam");
  expect_refused(eval("--examples -1"), 2, "--examples");
  expect_refused("eval", 2, "--dir");
  expect_refused("train --data copy:x --out " + path("new"), 2, "came \"copy:x\"");
  EXPECT_FALSE(fs::exists(path("new")));
}

TEST_F(EvalProgram, HelpsWithAnExample) {
  for (const std::string command : {"eval", "corpus"}) {
    const Outcome help = run(command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.output.find("translate " + command + " "), std::string::npos) << help.output;
  }
}

TEST(CorpusProgram, PrintsPairsThatCanBeReadBack) {
  const Scratch scratch;
  const fs::path file = scratch.folder() / "corpus.tsv";
  ASSERT_EQ(run("corpus --pairs 200 --seed 7 > " + file.string()).status, 0);
  const LoadedPairs read = read_pairs(file);
  EXPECT_EQ(read.report.skipped, 0);
  EXPECT_EQ(read.pairs, corpus(200, 7));
  EXPECT_EQ(std::ranges::count(run("corpus").output, '\n'), corpus_size());
  expect_refused("corpus --pairs 100000", 1, "which is all there are, came 100000");
  EXPECT_EQ(run("corpus --pairs 0").status, 2);
}

}  // namespace
}  // namespace heed::translate
