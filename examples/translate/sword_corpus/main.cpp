#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <unordered_map>

#include <heed/tensor/error.h>

#include "translate/standard_streams.h"
#include "translate/sword_corpus/verses.h"

namespace heed::translate {
namespace {

/// What `mod2imp MODULE` prints.
std::string printed_module(const std::string& module) {
  const bool is_name = !module.empty() && module.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
  if (!is_name)
    raise<FileError>("[sword_corpus] wanted a file of mod2imp or the name of a module, came \"{}\"", module);
  const auto close = [](FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(
      ::popen(("mod2imp " + module + " 2>/dev/null").c_str(), "r"), close);
  std::string text(1 << 16, '\0'), all;
  while (pipe) {
    const size_t count = std::fread(text.data(), 1, text.size(), pipe.get());
    if (count == 0) break;
    all.append(text, 0, count);
  }
  return all;
}

std::vector<Verse> load_verses(const std::string& name) {
  std::vector<Verse> verses;
  if (std::filesystem::is_regular_file(name)) {
    std::ifstream file(name);
    verses = read_verses(file);
  } else {
    std::istringstream text(printed_module(name));
    verses = read_verses(text);
  }
  if (verses.empty())
    raise<FileError>(
        "[sword_corpus] {}: wanted verses, came none (are libsword-utils and the module installed?)", name);
  return verses;
}

void print_pairs(const std::vector<Verse>& sources, const std::vector<Verse>& targets) {
  std::unordered_map<std::string, const Verse*> by_key;
  for (const Verse& verse : targets) by_key[verse.key] = &verse;
  int64_t pairs = 0;
  for (const Verse& source : sources) {
    const auto target = by_key.find(source.key);
    if (target == by_key.end()) continue;
    const SentencePair pair = aligned(source, *target->second);
    fmt::print("{}\t{}\t{}\n", joined(pair.source), joined(pair.target), format_alignment(pair.alignment));
    ++pairs;
  }
  if (pairs == 0) raise<FileError>("[sword_corpus] wanted verses that both modules have, came none");
  flush_output();
  fmt::print(stderr, "{} verses\n", pairs);
}

int run(int argc, char** argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  reserve_standard_streams();
  CLI::App app{
      "Prints two Bibles verse by verse, with the links between their words, as `translate` reads them"};
  std::string source = "engWEB2015eb", target = "spaRV1909eb";
  app.add_option("SOURCE", source, "A module of the SWORD project, or a file that mod2imp made of it")
      ->capture_default_str();
  app.add_option("TARGET", target, "Likewise")->capture_default_str();
  app.footer(
      "Words that bear the same Strong's number translate the same Hebrew or Greek word, and so each other. "
      "In\n"
      "Debian: apt-get install libsword-utils sword-text-web sword-text-sparv (or sword-text-kjv, whose "
      "module\n"
      "is engKJV2006eb).\n\n"
      "Example: sword_corpus engWEB2015eb spaRV1909eb > bible.tsv");
  try {
    app.parse(argc, argv);
    print_pairs(load_verses(source), load_verses(target));
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadUsage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "sword_corpus: {}\n", problem.what());
    return kFailed;
  }
  return 0;
}

}  // namespace
}  // namespace heed::translate

int main(int argc, char** argv) { return heed::translate::run(argc, argv); }
