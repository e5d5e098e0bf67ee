#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace heed::translate {

using test::Outcome;

/// Runs a script with TRANSLATE for the program, in one thread.
inline Outcome run_shell(const std::string& command) {
  return test::run_shell("export HEED_NUM_THREADS=1; TRANSLATE() { " + test::program_path("translate") +
                         " \"$@\"; }; " + command);
}

/// Runs `PROGRAM ARGUMENTS`. With `> FILE` in them, the output is what goes to standard error.
inline Outcome run_program(const std::string& program, const std::string& arguments) {
  return run_shell(test::program_path(program) + " " + arguments);
}

inline Outcome run(const std::string& arguments) { return run_program("translate", arguments); }

inline void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// The one line that a refusal is.
inline void expect_refused(const std::string& arguments, int status, const std::string& reason) {
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.status, status) << outcome.output;
  EXPECT_NE(outcome.output.find(reason), std::string::npos) << outcome.output;
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
}

}  // namespace heed::translate
