#pragma once

namespace CLI {
class App;
}  // namespace CLI

/// The subcommands, one experiment each.
namespace heed::gradient_flow {

void add_norm(CLI::App& app);
void add_scale(CLI::App& app);

}  // namespace heed::gradient_flow
