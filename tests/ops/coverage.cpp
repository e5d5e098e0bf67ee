#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/support/paths.h"

namespace heed::test {
namespace {

TEST(coverage, every_op_family_has_a_file_of_cases) {
  const std::filesystem::path tests = source_path("ops");
  const auto ops = tests.parent_path().parent_path() / "autograd" / "ops";
  int families = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ops)) {
    if (entry.path().extension() != ".cpp") continue;
    ++families;
    EXPECT_TRUE(std::filesystem::exists(tests / entry.path().filename()))
        << entry.path() << " has no file of cases in " << tests;
  }
  EXPECT_GE(families, 16) << "in " << ops;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What a header of an op declares in the first column, its file of cases calls.
TEST(coverage, every_public_op_has_a_case) {
  const std::filesystem::path tests = source_path("ops");
  const auto ops = tests.parent_path().parent_path() / "autograd" / "ops";
  const std::regex declaration(R"(\n(?:[A-Z]|std::)[\w:<>]* (\w+)\()");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ops)) {
    if (entry.path().extension() != ".h") continue;
    const std::string header = text_of(entry.path());
    const std::string cases = text_of(tests / entry.path().filename().replace_extension(".cpp"));
    for (std::sregex_iterator it(header.begin(), header.end(), declaration), end; it != end; ++it, ++found) {
      const std::string op = (*it)[1];
      EXPECT_TRUE(std::regex_search(cases, std::regex("\\b" + op + "\\b")))
          << entry.path() << " declares " << op << ", of which there is no case";
    }
  }
  EXPECT_GE(found, 60);
}

}  // namespace
}  // namespace heed::test
