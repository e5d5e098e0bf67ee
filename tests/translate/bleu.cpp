#include "translate/eval/bleu.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include <cmath>
#include <sstream>

#include "scratch.h"
#include "tests/support/paths.h"

namespace heed::translate {
namespace {

using References = std::vector<std::vector<Sentence>>;

Sentence split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// The score of `hypotheses` against the references of each, alternatives with | between.
double score(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
             int64_t order = 4) {
  std::vector<Sentence> said;
  for (const std::string& text : hypotheses) said.push_back(split_words(text));
  References wanted;
  for (const std::string& texts : references) {
    std::istringstream stream(texts);
    wanted.emplace_back();
    for (std::string text; std::getline(stream, text, '|');) wanted.back().push_back(split_words(text));
  }
  return corpus_bleu(said, wanted, order).score;
}

TEST(case_C37, a_an_empty_hypothesis_scores_nothing) {
  EXPECT_EQ(score({""}, {"a b c"}), 0.0);
  EXPECT_EQ(score({""}, {"a b c"}, 1), 0.0);
  EXPECT_EQ(corpus_bleu(std::vector<Sentence>(2), References{{{"a"}}, {{"b"}}}).brevity_penalty, 0.0);
}

TEST(case_C37, b_an_order_without_n_grams_scores_nothing) {
  EXPECT_EQ(score({"je suis"}, {"je suis"}), 0.0);
  EXPECT_EQ(score({"je suis"}, {"je suis"}, 2), 1.0);
  EXPECT_EQ(score({"je"}, {"je"}, 1), 1.0);
}

TEST(case_C37, c_counts_are_clipped_and_pooled) {
  const std::vector<Sentence> said = {split_words("the cat sat on the mat"), split_words("the the the the")};
  const Bleu bleu = corpus_bleu(said, References{{said[0]}, {split_words("the cat")}});
  EXPECT_EQ(bleu.matches, (std::vector<int64_t>{7, 5, 4, 3}));
  EXPECT_EQ(bleu.n_grams, (std::vector<int64_t>{10, 8, 6, 4}));
  EXPECT_EQ(bleu.hypothesis_length, 10);
  EXPECT_EQ(bleu.reference_length, 8);
  EXPECT_EQ(bleu.brevity_penalty, 1.0);
  EXPECT_NEAR(bleu.score, 0.68389120, 1e-8);
  EXPECT_NEAR(bleu.score, std::pow(0.21875, 0.25), 1e-12);
}

TEST(case_C37, d_the_closest_reference_counts_for_brevity) {
  EXPECT_NEAR(score({"I ate an apple"}, {"I ate an apple here"}), 0.77880078, 1e-8);
  EXPECT_NEAR(score({"I ate an apple"}, {"I ate an apple here|Bye"}), std::exp(1 - 5.0 / 4), 1e-12);
  EXPECT_NEAR(score({"I ate an apple"}, {"Bye|I ate an apple here"}), std::exp(1 - 5.0 / 4), 1e-12);
}

TEST(case_C37, d_of_two_that_are_equally_close_the_shorter_counts) {
  EXPECT_EQ(score({"a b c d"}, {"a b c d e|a b c"}), 1.0);
  EXPECT_EQ(score({"a b c d"}, {"a b c|a b c d e"}), 1.0);
}

TEST(case_C37, e_numbers_that_differ_are_named) {
  const std::vector<Sentence> said = {{"a"}, {"b"}};
  EXPECT_EQ(
      message_of<ValueError>([&] { corpus_bleu(said, References(3, {{"a"}})); }),
      "[corpus_bleu] wanted references for each hypothesis, came 2 hypotheses and 3 lists of references");
  EXPECT_EQ(message_of<ValueError>([&] {
              corpus_bleu(said, References{{{"a"}}, {}});
            }),
            "[corpus_bleu] wanted a reference or more for each hypothesis, came none for number 1");
  EXPECT_EQ(message_of<ValueError>([&] { corpus_bleu(said, References(2, {{"a"}}), 0); }),
            "[corpus_bleu] wanted a maximal order of 1 or more, came 0");
}

TEST(case_C37, nothing_at_all_is_no_error) {
  EXPECT_EQ(corpus_bleu({}, {}).score, 0.0);
  EXPECT_EQ(corpus_bleu(std::vector<Sentence>{{}, split_words("a b c d")},
                        References{{{}}, {split_words("a b c d")}})
                .score,
            1.0);
}

TEST(bleu, an_n_gram_matches_as_often_as_in_the_one_reference_that_has_it_most) {
  const std::vector<Sentence> said = {split_words("the the the the")};
  const Bleu bleu = corpus_bleu(said, References{{split_words("the cat the"), split_words("the dog")}}, 1);
  EXPECT_EQ(bleu.matches, std::vector<int64_t>{2});
}

TEST(bleu, is_that_of_sacrebleu) {
  std::ifstream file(test::fixture_path("bleu.tsv"));
  ASSERT_TRUE(file);
  struct Expected {
    int64_t order = 0, said = 0, wanted = 0;
    double score = 0, penalty = 0;
  } expected;
  std::vector<Sentence> said;
  References references;
  int corpora = 0;
  const auto compare = [&] {
    if (said.empty()) return;
    const Bleu bleu = corpus_bleu(said, references, expected.order);
    EXPECT_NEAR(100 * bleu.score, expected.score, 1e-9) << "corpus " << corpora;
    EXPECT_NEAR(bleu.brevity_penalty, expected.penalty, 1e-12) << "corpus " << corpora;
    EXPECT_EQ(bleu.hypothesis_length, expected.said) << "corpus " << corpora;
    EXPECT_EQ(bleu.reference_length, expected.wanted) << "corpus " << corpora;
    ++corpora;
    said.clear();
    references.clear();
  };
  for (std::string line, kind; std::getline(file, line);) {
    std::istringstream head(line);
    if (line.starts_with("corpus ")) {
      compare();
      head >> kind >> expected.order >> expected.score >> expected.penalty >> expected.said >>
          expected.wanted;
      continue;
    }
    std::getline(head, kind, '\t');
    said.push_back(split_words(kind));
    references.emplace_back();
    while (std::getline(head, kind, '\t')) references.back().push_back(split_words(kind));
  }
  compare();
  EXPECT_EQ(corpora, 8);
}

}  // namespace
}  // namespace heed::translate
