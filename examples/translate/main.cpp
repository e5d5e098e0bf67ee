#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "translate/commands/commands.h"
#include "translate/commands/options.h"

int main(int argc, char** argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  spdlog::set_default_logger(spdlog::stderr_color_mt("translate"));
  spdlog::set_pattern("%v");
  CLI::App app{"Trains a small English-French translator and asks it for translations"};
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& problem) {
    return fmt::format("translate: {} (--help tells more)\n", problem.what());
  });
  heed::translate::add_train(app);
  heed::translate::add_infer(app);
  heed::translate::add_eval(app);
  heed::translate::add_study(app);
  heed::translate::add_corpus(app);
  heed::translate::add_bench(app);
  for (CLI::App* command : app.get_subcommands({})) heed::translate::add_log_options(*command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& stop) {
    return stop.get_exit_code();
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadUsage;
  } catch (const heed::translate::UsageError& problem) {
    fmt::print(stderr, "translate: {}\n", problem.what());
    return kBadUsage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "translate: {}\n", problem.what());
    return kFailed;
  }
  return 0;
}
