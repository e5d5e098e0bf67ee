#include "translate/data/dataset.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include <algorithm>
#include <set>

#include "scratch.h"
#include "translate/corpus/corpus.h"
#include "translate/data/split.h"
#include "translate/data/tasks.h"

namespace heed::translate {
namespace {

std::set<std::string> different_sources(const std::vector<SentencePair>& pairs) {
  std::set<std::string> out;
  for (const SentencePair& pair : pairs) out.insert(joined(pair.source));
  return out;
}

size_t common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return static_cast<size_t>(
      std::ranges::count_if(a, [&](const std::string& text) { return b.contains(text); }));
}

void expect_parts_share_nothing(const std::vector<SentencePair>& pairs, int64_t holdout) {
  const Split parts = split(pairs, {.holdout = holdout, .validation = true});
  EXPECT_EQ(parts.training.size() + parts.validation.size() + parts.test.size(), pairs.size());
  EXPECT_FALSE(parts.training.empty() || parts.validation.empty() || parts.test.empty());
  const auto training = different_sources(parts.training), validation = different_sources(parts.validation),
             test = different_sources(parts.test);
  EXPECT_EQ(common(training, validation) + common(training, test) + common(validation, test), 0u);
}

TEST(split, the_parts_share_no_source) {
  expect_parts_share_nothing(load_pairs("").pairs, 12);
  expect_parts_share_nothing(load_pairs("copy:3").pairs, 7);
  // Sources that come again, with other translations and other capitals and spaces.
  std::vector<SentencePair> repeated;
  for (int i = 0; i < 600; ++i)
    repeated.push_back(
        {words(i % 2 == 0 ? fmt::format("Word {}!", i % 50) : fmt::format("word  {} !", i % 50)),
         {fmt::format("t{}", i)},
         {}});
  expect_parts_share_nothing(repeated, 5);
}

TEST(split, goes_by_the_checksum_of_the_cleaned_source) {
  // Values of zlib.crc32() in Python.
  EXPECT_EQ(source_checksum(words("Go.")), 2372711894u);
  EXPECT_EQ(source_checksum(words("I  lost\u202F.")), 1649382475u);
  EXPECT_EQ(source_checksum({}), 0u);
  std::vector<SentencePair> pairs = {{words("Go."), {"va"}, {}}, {words("I lost."), {"perdu"}, {}}};
  const Split parts = split(pairs, {.holdout = 2, .validation = true});  // an even one and an odd one
  ASSERT_EQ(parts.test.size(), 1u);
  EXPECT_EQ(parts.test[0].target, Sentence{"va"});
  ASSERT_EQ(parts.validation.size(), 1u);
  EXPECT_EQ(parts.validation[0].target, Sentence{"perdu"});
  EXPECT_EQ(split(pairs, {.holdout = 2}).training.size(), 1u);
  EXPECT_EQ(split(pairs, {}).training.size(), 2u);
  EXPECT_EQ(split(pairs, {.holdout = 1}).test.size(), 2u);
}

TEST(split, errors) {
  EXPECT_THROW(split({}, {.holdout = -1}), ValueError);
  EXPECT_EQ(message_of<ValueError>([] { split({}, {.holdout = 1, .validation = true}); }),
            "[split] wanted a holdout of 2 or more for a validation part, came 1");
}

TEST(tasks, copy_and_reverse) {
  const auto copied = task_pairs(Task::kCopy, 5, 300, 1), reversed = task_pairs(Task::kReverse, 5, 300, 1);
  size_t longest = 0;
  for (size_t i = 0; i < copied.size(); ++i) {
    const SentencePair &copy = copied[i], &reverse = reversed[i];
    EXPECT_EQ(copy.source, copy.target);
    EXPECT_EQ(reverse.source, copy.source);
    EXPECT_EQ(Sentence(reverse.source.rbegin(), reverse.source.rend()), reverse.target);
    ASSERT_EQ(reverse.alignment.size(), reverse.source.size());
    for (const auto& [source, target] : reverse.alignment)
      EXPECT_EQ(reverse.source[static_cast<size_t>(source)], reverse.target[static_cast<size_t>(target)]);
    for (const auto& [source, target] : copy.alignment) EXPECT_EQ(source, target);
    longest = std::max(longest, copy.source.size());
  }
  EXPECT_EQ(longest, 5u);
  EXPECT_EQ(different_sources(copied).size(), copied.size());
}

TEST(tasks, depend_on_the_seed_alone) {
  const auto texts = [](int64_t count, uint64_t seed) {
    std::vector<Sentence> out = sources(task_pairs(Task::kCopy, 8, count, seed));
    return out;
  };
  EXPECT_EQ(texts(50, 3), texts(50, 3));
  EXPECT_NE(texts(50, 3), texts(50, 4));
  const std::vector<Sentence> more = texts(80, 3);
  EXPECT_EQ(texts(50, 3), std::vector<Sentence>(more.begin(), more.begin() + 50));
}

TEST(tasks, run_out_of_sentences) {
  EXPECT_EQ(task_sentences(1), 26);
  EXPECT_EQ(task_sentences(2), 26 + 26 * 26);
  EXPECT_EQ(task_sentences(1000), int64_t{1} << 62);
  EXPECT_EQ(different_sources(task_pairs(Task::kCopy, 1, 26, 0)).size(), 26u);
  EXPECT_EQ(message_of<ValueError>([] { task_pairs(Task::kCopy, 1, 27, 0); }),
            "[task_pairs] wanted from 0 to 26 pairs, which is all there are, came 27");
  EXPECT_THROW(task_pairs(Task::kCopy, 0, 1, 0), ValueError);
  EXPECT_THROW(task_pairs(Task::kCopy, 3, -1, 0), ValueError);
}

TEST(dataset, names) {
  EXPECT_EQ(static_cast<int64_t>(load_pairs("").pairs.size()), corpus_size());
  EXPECT_EQ(load_pairs("", {.limit = 30}).pairs.size(), 30u);
  EXPECT_EQ(load_pairs("copy:10").pairs.size(), static_cast<size_t>(kTaskPairs));
  EXPECT_EQ(load_pairs("reverse:1").pairs.size(), 26u);
  EXPECT_EQ(load_pairs("reverse:10", {.limit = 7}).pairs.size(), 7u);
  EXPECT_NE(load_pairs("reverse:10", {.limit = 7}).pairs, load_pairs("copy:10", {.limit = 7}).pairs);
  const Scratch scratch;
  EXPECT_EQ(load_pairs(scratch.file("Go.\tVa !\n").string()).pairs.size(), 1u);
  EXPECT_TRUE(is_embedded("") && is_embedded("copy:3") && is_embedded("reverse:x"));
  EXPECT_FALSE(is_embedded("copy") || is_embedded("./copy:3"));
}

TEST(dataset, the_longest_sentences) {
  for (const char* name : {"", "copy:4", "reverse:30"}) {
    int64_t longest = 0;
    for (const SentencePair& pair : load_pairs(name).pairs)
      longest = std::max({longest, std::ssize(pair.source), std::ssize(pair.target)});
    EXPECT_EQ(longest_sentence(name), longest) << name;
  }
  EXPECT_EQ(longest_sentence("pairs.tsv"), 0);
}

TEST(dataset, names_that_stand_for_nothing) {
  for (const char* name : {"copy:", "copy:0", "copy:-3", "copy:1001", "copy:x", "copy:3x", "copy: 3",
                           "copy:99999999999999999999"})
    EXPECT_EQ(message_of<ValueError>([&] { load_pairs(name); }),
              fmt::format("[data] wanted copy:N with N from 1 to 1000, came \"{}\"", name));
  EXPECT_EQ(message_of<ValueError>([] { load_pairs("reverse:"); }),
            "[data] wanted reverse:N with N from 1 to 1000, came \"reverse:\"");
  EXPECT_EQ(message_of<FileError>([] { load_pairs("sort:10"); }),
            "[data] sort:10: wanted a file of sentence pairs, copy:N or reverse:N, came none of them");
  EXPECT_THROW(load_pairs("", {.limit = corpus_size() + 1}), ValueError);
  EXPECT_THROW(load_pairs("", {.limit = -1}), ValueError);
}

}  // namespace
}  // namespace heed::translate
