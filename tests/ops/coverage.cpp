#include <gtest/gtest.h>

#include <filesystem>

namespace heed::test {
namespace {

TEST(coverage, every_op_family_has_a_file_of_cases) {
  const auto tests = std::filesystem::path(HEED_FIXTURES).parent_path() / "ops";
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

}  // namespace
}  // namespace heed::test
