#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"
#include "tests/translate/scratch.h"

namespace heed::gradient_flow {
namespace {

using test::Outcome;
using translate::contents_of;
using translate::Scratch;

/// Runs the program in one thread.
Outcome run(const std::string& arguments) {
  return test::run_shell("HEED_NUM_THREADS=1 " + test::program_path("gradient_flow") + " " + arguments);
}

constexpr const char* kSmallScale = "scale --queries 16 --keys 4 --seed 7";

void expect_refused(const std::string& arguments, int status, const std::string& reason) {
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.status, status) << outcome.output;
  EXPECT_NE(outcome.output.find(reason), std::string::npos) << outcome.output;
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
}

TEST(ProgramTest, tells_of_every_experiment) {
  const Outcome outcome = run("--help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* name : {"norm", "scale", "memory", "paths", "align"}) {
    EXPECT_NE(outcome.output.find(name), std::string::npos);
    EXPECT_EQ(run(std::string(name) + " --help").status, 0);
  }
}

TEST(ProgramTest, prints_the_same_numbers_for_the_same_seed_and_writes_a_page) {
  const Scratch scratch;
  const std::string page = (scratch.folder() / "page.html").string();
  const Outcome first = run(kSmallScale), second = run(std::string(kSmallScale) + " --out " + page);
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_EQ(first.output, second.output);
  EXPECT_NE(contents_of(page).find("Why dot products are divided by sqrt(d)"), std::string::npos);
}

TEST(ProgramTest, refuses_a_wrong_command_line_with_2) {
  expect_refused("", 2, "A subcommand is required");
  expect_refused("nonesuch", 2, "A subcommand is required");
  expect_refused("scale --keys 1", 2, "wanted a number of 2 or more, came \"1\"");
  expect_refused("norm --seeds 0", 2, "wanted a number of 1 or more, came \"0\"");
  expect_refused("norm --seeds x", 2, "--seeds");
  expect_refused("norm --nonesuch", 2, "--nonesuch");
  expect_refused("norm --seed -1", 2, "--seed: wanted a whole number from 0");
  expect_refused("memory --task sort", 2, "[task] wanted copy or reverse, came \"sort\"");
  expect_refused("memory --longest 3", 2, "wanted a number of 4 or more, came \"3\"");
  expect_refused("align --model rnn", 2, "[model] wanted bahdanau or transformer, came \"rnn\"");
}

TEST(ProgramTest, fails_with_1_where_a_page_cannot_be_written) {
  const Outcome outcome = run(std::string(kSmallScale) + " --out /nonesuch/page.html");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("gradient_flow: ["), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("/nonesuch/page.html"), std::string::npos) << outcome.output;
}

TEST(ProgramTest, fails_with_1_where_the_sizes_do_not_go_together) {
  expect_refused("norm --width 6", 1, "wanted a width that divides into the heads, came width 6 and 4 heads");
  expect_refused("paths --heads 5", 1,
                 "wanted a width that divides into the heads, came width 32 and 5 heads");
  expect_refused("align --pairs 10", 1, "wanted fewer sentences to keep out than pairs, came 300 of 10");
  expect_refused("align --pairs 99999", 1, "99999");
}

}  // namespace
}  // namespace heed::gradient_flow
