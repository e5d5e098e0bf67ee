#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "translate/terminal.h"

namespace heed::translate {
namespace {

/// A folder with a model that counts in French, shared by the tests.
class InferProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    const std::string pairs =
        "one .\tun .\ntwo .\tdeux .\nthree .\ttrois .\nfour .\tquatre .\nfive .\tcinq .\n";
    write(path("pairs.tsv"), pairs + pairs);  // words that come once are not learned
    const Outcome trained = run("train --data " + path("pairs.tsv") + " --epochs 100 --out " + model());
    ASSERT_EQ(trained.status, 0) << trained.output;
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static std::string path(const std::string& name) { return (scratch_->folder() / name).string(); }
  static std::string model() { return path("model"); }
  static std::string infer(const std::string& rest = "") { return "infer --dir " + model() + " " + rest; }
  static Outcome answer(const std::string& input, const std::string& options = "") {
    write(path("input"), input);
    return run(infer(options) + " < " + path("input"));
  }

 private:
  static inline std::unique_ptr<Scratch> scratch_;
};

TEST_F(InferProgram, StripsAByteOrderMark) {
  EXPECT_EQ(answer("\xEF\xBB\xBFtwo .\n").output, "deux .\n");
  EXPECT_EQ(answer("\xEF\xBB\xBF\ntwo .").output, "\ndeux .\n");
}

TEST_F(InferProgram, TranslatesWhatComesBeforeALineThatIsNoText) {
  const Outcome outcome = answer("one .\n\ntwo .\n\xC3 .\nthree .\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output,
            "un .\n\ndeux .\n"
            "translate: [infer] line 4: [clean] wanted valid UTF-8, came byte 0xC3 at offset 0\n");
  const Outcome too_long = answer("one .\n" + std::string((1 << 20) + 1, 'a') + "\n");
  EXPECT_EQ(too_long.status, 1);
  EXPECT_EQ(too_long.output,
            "un .\ntranslate: [lines] standard input, line 2: wanted at most 1048576 bytes, came more\n");
}

TEST_F(InferProgram, AnswersSomeoneWhoWaits) {
  const Outcome outcome = run_shell("cd " + path("") + "; mkfifo questions answers; TRANSLATE " + infer() +
                                    " < questions > answers & exec 3> questions 4< answers; "
                                    "echo 'one .' >&3; timeout 20 head -n 1 <&4; echo first; "
                                    "printf 'two .\\nthr' >&3; timeout 20 head -n 1 <&4; echo second; "
                                    "echo 'ee .' >&3; exec 3>&-; timeout 20 head -n 1 <&4");
  EXPECT_EQ(outcome.output, "un .\nfirst\ndeux .\nsecond\ntrois .\n");
}

TEST_F(InferProgram, RefusesInputThatCannotBeRead) {
  expect_refused(infer("< " + path("")), 1,
                 "standard input: wanted something readable, came: Is a directory");
  expect_refused(infer("<&-"), 1, "standard input: wanted something readable, came: Bad file descriptor");
}

TEST_F(InferProgram, SendsNoControlCharactersToATerminal) {
  const Outcome outcome = answer(std::string("one\x1B[31m \x07 two\0three .\n", 21), "--show-attention");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7F'; };
  EXPECT_TRUE(std::ranges::none_of(outcome.output, is_control)) << outcome.output;
  EXPECT_NE(outcome.output.find("│   │   two\n"), std::string::npos) << outcome.output;
}

TEST_F(InferProgram, DrawsALongSentenceInPicturesThatFit) {
  const std::string data = path("long.tsv"), folder = path("long");
  const std::string sentence = [] {
    std::string words;
    for (int i = 0; i < 120; ++i) words += "one ";
    return words;
  }();
  write(data, sentence + "\tun\n");
  ASSERT_EQ(run("train --data " + data + " --length 150 --steps 1 --out " + folder).status, 0);
  std::istringstream lines(run("infer --dir " + folder + " --show-attention '" + sentence + "'").output);
  std::string line;
  for (int skipped = 0; skipped < 2; ++skipped) std::getline(lines, line);
  size_t count = 0;
  for (; std::getline(lines, line); ++count) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_GT(count, 121);
}

/// What is printed and does not arrive is no success.
TEST_F(InferProgram, ReportsOutputThatCannotBeWritten) {
  const std::string reason = "standard output cannot be written: ";
  const std::string train =
      "train -q --overwrite --data " + path("pairs.tsv") + " --steps 1 --holdout 2 --out " + path("other");
  for (const std::string& command :
       {infer("'one .'"), "eval --log-level error --dir " + model() + " --data " + path("pairs.tsv"), train,
        "bench -q --steps 1 --warmup 0 --data " + path("pairs.tsv"), std::string("corpus --pairs 3"),
        std::string("--help")}) {
    expect_refused(command + " 2>&1 > /dev/full", 1, reason + "No space left on device");
    expect_refused(command + " >&-", 1, reason + "Bad file descriptor");
  }
  const Outcome whole = run("corpus 2>&1 > /dev/full");
  EXPECT_EQ(whole.status, 1) << whole.output;
  EXPECT_EQ(std::ranges::count(whole.output, '\n'), 1) << whole.output;
  const Outcome after = run("infer --dir " + path("other") + " 'one .'");
  EXPECT_EQ(after.status, 0) << "what was printed went to a file of the model: " << after.output;
}

TEST_F(InferProgram, FailsInOrderWithoutStandardError) {
  for (const std::string closed : {"2>&-", "2> /dev/full"})
    EXPECT_EQ(run("infer --dir " + path("none") + " one " + closed).status, 1) << closed;
}

}  // namespace
}  // namespace heed::translate
