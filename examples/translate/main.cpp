#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "translate/commands/commands.h"
#include "translate/commands/options.h"
#include "translate/names.h"
#include "translate/standard_streams.h"

namespace heed::translate {
namespace {

void add_commands(CLI::App& app) {
  add_train(app);
  add_infer(app);
  add_eval(app);
  add_study(app);
  add_corpus(app);
  add_bench(app);
  for (CLI::App* command : app.get_subcommands({})) add_log_options(*command);
}

/// What is wrong with a command line. CLI11 does not tell the word that stands in the place of a command.
std::string problem_of(const CLI::App& app, const CLI::Error& problem) {
  const std::vector<std::string> unknown = app.remaining();
  if (!app.get_subcommands().empty() || unknown.empty()) return problem.what();
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  return fmt::format("wanted {}, came \"{}\"", Names("command", commands).listed(), unknown.front());
}

void run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
  }
  flush_output();
}

/// Does not throw where standard error is closed, as fmt::print would.
int failed(const std::exception& problem, int status) {
  std::fputs(fmt::format("translate: {}\n", problem.what()).c_str(), stderr);
  return status;
}

}  // namespace
}  // namespace heed::translate

int main(int argc, char** argv) {
  using namespace heed::translate;
  constexpr int kFailed = 1, kBadUsage = 2;
  reserve_standard_streams();
  spdlog::set_default_logger(spdlog::stderr_color_mt("translate"));
  spdlog::set_pattern("%v");
  CLI::App app{"Trains a small English-French translator and asks it for translations"};
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* called, const CLI::Error& problem) {
    return fmt::format("translate: {} (--help tells more)\n", problem_of(*called, problem));
  });
  add_commands(app);
  try {
    run(app, argc, argv);
  } catch (const CLI::RuntimeError& stop) {
    return stop.get_exit_code();
  } catch (const CLI::ParseError& problem) {
    app.exit(problem);
    return kBadUsage;
  } catch (const UsageError& problem) {
    return failed(problem, kBadUsage);
  } catch (const std::exception& problem) {
    return failed(problem, kFailed);
  }
  return 0;
}
