#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "gradient_flow/commands.h"

int main(int argc, char** argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app{"Experiments on how gradient flows through attention"};
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& problem) {
    return fmt::format("gradient_flow: {} (--help tells more)\n", problem.what());
  });
  heed::gradient_flow::add_norm(app);
  heed::gradient_flow::add_scale(app);
  heed::gradient_flow::add_memory(app);
  heed::gradient_flow::add_paths(app);
  heed::gradient_flow::add_align(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadUsage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "gradient_flow: {}\n", problem.what());
    return kFailed;
  }
  return 0;
}
