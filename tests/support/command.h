#pragma once

#include <cstdio>
#include <string>

#include <sys/wait.h>

namespace heed::test {

struct Outcome {
  int status = 0;
  std::string output;  // standard output and standard error
};

/// Runs a script of the shell to its end.
inline Outcome run_shell(const std::string& script) {
  FILE* pipe = popen(("exec 2>&1; " + script).c_str(), "r");
  Outcome outcome;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    outcome.output.push_back(static_cast<char>(c));
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

}  // namespace heed::test
