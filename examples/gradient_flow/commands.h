#pragma once

namespace CLI {
class App;
}  // namespace CLI

/// The subcommands, one experiment each.
namespace heed::gradient_flow {

void add_norm(CLI::App& app);
void add_scale(CLI::App& app);
void add_memory(CLI::App& app);
void add_paths(CLI::App& app);
void add_align(CLI::App& app);

}  // namespace heed::gradient_flow
