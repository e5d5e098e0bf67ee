#include <gtest/gtest.h>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "translate/data/pairs.h"

namespace heed::translate {
namespace {

class SwordProgram : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = scratch_.folder() / name;
    write(path, text);
    return path.string();
  }

  Scratch scratch_;
};

TEST_F(SwordProgram, PrintsPairsThatCanBeReadBack) {
  const std::string english = file("en.imp",
                                   "$$$Genesis 1:1\n<w lemma=\"strong:H1\">A dog</w> "
                                   "<w lemma=\"strong:H2\">runs</w>.\n$$$Genesis 1:2\nOnly here.\n");
  const std::string spanish = file("es.imp",
                                   "$$$Genesis 1:1\n<w lemma=\"strong:H0002\">Corre</w> "
                                   "<w lemma=\"strong:H0001\">un perro</w>.\n$$$Genesis 2:2\nSólo aquí.\n");
  const std::string pairs = (scratch_.folder() / "pairs.tsv").string();
  const Outcome outcome = run_program("sword_corpus", english + " " + spanish + " > " + pairs);
  EXPECT_EQ(outcome.status, 0);
  const LoadedPairs read = read_pairs(pairs, {.strict = true});
  ASSERT_EQ(read.pairs.size(), 1u);
  EXPECT_EQ(joined(read.pairs[0].source), "a dog runs .");
  EXPECT_EQ(joined(read.pairs[0].target), "corre un perro .");
  EXPECT_EQ(format_alignment(read.pairs[0].alignment), "0-1 0-2 1-1 1-2 2-0");
}

TEST_F(SwordProgram, RefusesWhatHoldsNoVerses) {
  const auto refused = [](const std::string& arguments, int status, const std::string& reason) {
    const Outcome outcome = run_program("sword_corpus", arguments);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << outcome.output;
  };
  const std::string one = file("one.imp", "$$$Genesis 1:1\na\n"),
                    other = file("other.imp", "$$$Exodus 1:1\na\n");
  refused(one + " " + other, 1, "wanted verses that both modules have, came none");
  refused(file("empty.imp", "") + " " + one, 1, "empty.imp: wanted verses, came none");
  refused("noSuchModule " + one, 1, "noSuchModule: wanted verses, came none");
  refused("'a;b' " + one, 1, "the name of a module, came \"a;b\"");
  refused("--what", 2, "--what");
  refused("--help", 0, "Example: sword_corpus ");
  refused(one + " " + one + " 2>&1 > /dev/full", 1, "standard output cannot be written");
}

}  // namespace
}  // namespace heed::translate
