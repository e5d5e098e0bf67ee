#include "translate/data/pairs.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include "scratch.h"
#include "translate/data/vocabulary.h"

namespace heed::translate {
namespace {

LoadedPairs loaded(std::string_view bytes, int64_t limit = 0) {
  const Scratch scratch;
  return read_pairs(scratch.file(bytes), {.limit = limit});
}

std::string refusal_of(std::string_view bytes) {
  return message_of<FileError>([&] { loaded(bytes); });
}

TEST(pairs, reads_source_and_target) {
  const LoadedPairs some = loaded("Go.\tVa !\nRun!\tCours\u202F!\tCC-BY 2.0 (France)\tmore\n");
  ASSERT_EQ(some.pairs.size(), 2u);
  EXPECT_EQ(some.report.skipped, 0);
  EXPECT_EQ(some.pairs[0].source, (Sentence{"go", "."}));
  EXPECT_EQ(some.pairs[0].target, (Sentence{"va", "!"}));
  EXPECT_EQ(some.pairs[1].target, (Sentence{"cours", "!"}));
  EXPECT_TRUE(some.pairs[1].alignment.empty());
  EXPECT_EQ(sources(some.pairs)[1], (Sentence{"run", "!"}));
  EXPECT_EQ(targets(some.pairs)[0], (Sentence{"va", "!"}));
}

TEST(pairs, byte_order_mark_and_line_ends_make_no_difference) {
  const auto same = [](std::string_view bytes) {
    const LoadedPairs some = loaded(bytes);
    EXPECT_EQ(some.report.skipped, 0);
    return sources(some.pairs) == std::vector<Sentence>{{"go", "."}, {"hi", "."}} &&
           targets(some.pairs) == std::vector<Sentence>{{"va", "!"}, {"salut", "."}};
  };
  EXPECT_TRUE(same("Go.\tVa !\nHi.\tSalut.\n"));
  EXPECT_TRUE(same("Go.\tVa !\nHi.\tSalut."));
  EXPECT_TRUE(same("Go.\tVa !\r\nHi.\tSalut.\r\n"));
  EXPECT_TRUE(same("\xEF\xBB\xBFGo.\tVa !\r\nHi.\tSalut.\r\n"));
}

TEST(case_C33, a_file_in_either_spelling_gives_the_same_vocabulary_and_ids) {
  const LoadedPairs special = loaded(
      "He's here.\tÇa va\u202F? Oui\u2009!\u00A0J\u2019ai froid.\nGo\u00A0!\tE\u0301te\u0301\u202F!\n");
  const LoadedPairs plain = loaded("HE\u2018S here.\tça va ? oui ! j'ai froid.\ngo!\tété !\n");
  EXPECT_EQ(special.pairs, plain.pairs);
  const Vocabulary words(targets(special.pairs), 1);
  EXPECT_EQ(words, Vocabulary(targets(plain.pairs), 1));
  EXPECT_EQ(words.size(), 4 + 9);  // ça va ? oui ! j'ai froid . été
  for (int64_t id = 0; id < words.size(); ++id)
    for (const char* space : {"\u202F", "\u2009", "\u00A0", "\u2019"})
      EXPECT_EQ(words.word(id).find(space), std::string::npos) << words.word(id);
}

TEST(pairs, broken_lines_are_skipped_and_reported) {
  const LoadedPairs some = loaded("Go.\tVa !\n\nno tab\n\tVa !\nGo.\t \nGo\xE9.\tVa !\nHi.\tSalut.\n");
  EXPECT_EQ(some.pairs.size(), 2u);
  EXPECT_EQ(some.report.skipped, 5);
  const std::vector<std::string> expected = {
      "line 2: wanted source, tab, target, came a blank line",
      "line 3: wanted a tab, came none",
      "line 4: wanted a source sentence, came none",
      "line 5: wanted a target sentence, came none",
      "line 6: [clean] wanted valid UTF-8, came byte 0xE9 at offset 2",
  };
  EXPECT_EQ(some.report.problems, expected);
}

TEST(pairs, a_carriage_return_ends_a_line_only_before_a_line_feed) {
  EXPECT_EQ(loaded("A\tb\r\nC\td\r\n").pairs.size(), 2u);
  EXPECT_EQ(loaded("A\tb\rC\td\nE\tf\n").report.problems,
            std::vector<std::string>{"line 1: wanted lines that end in LF or CRLF, came a CR alone"});
  EXPECT_NE(refusal_of("A\tb\rC\td\r").find("came a CR alone"), std::string::npos);
}

TEST(pairs, the_first_ten_problems_are_kept_and_all_are_counted) {
  std::string bytes = "Go.\tVa !\n";
  for (int i = 0; i < 25; ++i) bytes += "broken\n";
  const LoadedPairs some = loaded(bytes);
  EXPECT_EQ(some.report.skipped, 25);
  ASSERT_EQ(some.report.problems.size(), 10u);
  EXPECT_TRUE(some.report.problems.back().starts_with("line 11:"));
}

TEST(pairs, a_strict_reading_stops_at_the_first_broken_line) {
  const Scratch scratch;
  const auto path = scratch.file("Go.\tVa !\nno tab\n\nHi.\tSalut.\n");
  EXPECT_EQ(message_of<FileError>([&] { read_pairs(path, {.strict = true}); }),
            "[read_pairs] " + path.string() + ":2: wanted a tab, came none");
  EXPECT_EQ(read_pairs(path, {.limit = 1, .strict = true}).pairs.size(), 1u);
}

TEST(pairs, limit_counts_usable_pairs) {
  const std::string bytes = "broken\nA\tB\nbroken\nC\tD\nE\tF\nbroken\n";
  EXPECT_EQ(loaded(bytes, 2).pairs.size(), 2u);
  EXPECT_EQ(loaded(bytes, 2).report.skipped, 2);
  EXPECT_EQ(loaded(bytes, 99).pairs.size(), 3u);
  EXPECT_EQ(loaded(bytes).pairs.size(), 3u);
  EXPECT_THROW(loaded(bytes, -1), ValueError);
}

TEST(pairs, long_lines) {
  std::string sentence = "a";
  for (int i = 0; i < 100000; ++i) sentence += " b";
  EXPECT_EQ(loaded(sentence + "\tx\n").pairs[0].source.size(), 100001u);
  const LoadedPairs some = loaded(std::string(size_t{3} << 20, 'x') + "\ty\nA\tB\n");
  EXPECT_EQ(some.pairs.size(), 1u);
  EXPECT_EQ(some.report.problems,
            std::vector<std::string>{"line 1: wanted at most 1048576 bytes, came more"});
}

TEST(pairs, a_column_of_links_is_the_alignment) {
  const LoadedPairs some = loaded("I go.\tJe vais.\t0-0 1-1 2-2\nGo.\tVa !\t0-0 1-x\nGo.\tVa !\t0-0 1-2\n");
  ASSERT_EQ(some.pairs.size(), 2u);
  EXPECT_EQ(some.pairs[0].alignment, (Alignment{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(format_alignment(some.pairs[0].alignment), "0-0 1-1 2-2");
  EXPECT_TRUE(some.pairs[1].alignment.empty());
  EXPECT_EQ(some.report.problems,
            std::vector<std::string>{"line 3: wanted links between 2 and 2 words, came 1-2"});
  for (const char* column : {"-1-0", "0-", "-0", "0", "0-0  1-1", "99999999999-0", "0-0-0"}) {
    EXPECT_TRUE(loaded(std::string("Go.\tVa !\t") + column + "\n").pairs[0].alignment.empty()) << column;
  }
}

TEST(pairs, files_that_hold_no_pairs) {
  EXPECT_NE(refusal_of("").find("came an empty file"), std::string::npos);
  EXPECT_NE(refusal_of("a\nb\n").find("came none in 2 lines (line 1: wanted a tab, came none)"),
            std::string::npos);
  EXPECT_TRUE(refusal_of("\xFF\xFEG\0o\0\t\0V\0a\0\n").starts_with("[read_pairs] "));
  const Scratch scratch;
  const auto path = scratch.folder() / "none";
  EXPECT_EQ(message_of<FileError>([&] { read_pairs(path); }),
            "[read_pairs] " + path.string() + ": wanted a readable file, came: No such file or directory");
  EXPECT_EQ(message_of<FileError>([&] { read_pairs(scratch.folder()); }),
            "[read_pairs] " + scratch.folder().string() + ": wanted a readable file, came: Is a directory");
}

}  // namespace
}  // namespace heed::translate
