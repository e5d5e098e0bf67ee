#pragma once

namespace CLI {
class App;
}

/// The subcommands of the program, one file each: add_NAME() declares NAME's options and what it does.
namespace heed::translate {

void add_train(CLI::App& app);
void add_infer(CLI::App& app);
void add_eval(CLI::App& app);
void add_study(CLI::App& app);
void add_corpus(CLI::App& app);
void add_bench(CLI::App& app);

}  // namespace heed::translate
