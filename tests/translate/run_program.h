#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace heed::translate {

struct Outcome {
  int status = 0;
  std::string output;  // standard output and standard error
};

/// Runs a command as a shell would, with TRANSLATE for the program, in one thread.
inline Outcome run_shell(const std::string& command) {
  const std::string script =
      "exec 2>&1; TRANSLATE() { HEED_NUM_THREADS=1 " HEED_TRANSLATE " \"$@\"; }; " + command;
  FILE* pipe = popen(script.c_str(), "r");
  Outcome outcome;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    outcome.output.push_back(static_cast<char>(c));
  const int status = pclose(pipe);
  outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace heed::translate
