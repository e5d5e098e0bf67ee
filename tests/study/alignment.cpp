#include <heed/study/alignment.h>

#include <gtest/gtest.h>

#include "tests/tensor/helpers.h"

namespace heed::study {
namespace {

AlignmentCounts counts_of(const Alignment& found, const Alignment& gold) {
  AlignmentCounts counts;
  counts.add(found, gold);
  return counts;
}

TEST(alignment, error_rates_in_closed_form) {
  const Alignment gold = {{0, 0}, {1, 1}, {2, 2}};
  EXPECT_EQ(counts_of(gold, gold).error_rate(), 0.0);
  EXPECT_EQ(counts_of({{0, 1}, {1, 2}, {2, 0}}, gold).error_rate(), 1.0);
  EXPECT_EQ(counts_of({}, gold).error_rate(), 1.0);
  EXPECT_EQ(counts_of(gold, {}).error_rate(), 1.0);
  EXPECT_EQ(counts_of({}, {}).error_rate(), 0.0);
  // Two of three: 1 - (2 + 2) / (3 + 3).
  EXPECT_DOUBLE_EQ(counts_of({{0, 0}, {1, 1}, {1, 2}}, gold).error_rate(), 1.0 / 3);
  // All that are found are true, and one true one is missing: 1 - (2 + 2) / (2 + 3).
  EXPECT_DOUBLE_EQ(counts_of({{0, 0}, {1, 1}}, gold).error_rate(), 1.0 / 5);
  // All true ones are found, and another: 1 - (3 + 3) / (4 + 3).
  EXPECT_DOUBLE_EQ(counts_of({{0, 0}, {1, 1}, {2, 2}, {2, 1}}, gold).error_rate(), 1.0 / 7);
}

TEST(alignment, counts_add_up_over_sentences_and_a_link_counts_once) {
  AlignmentCounts counts;
  counts.add({{0, 0}, {0, 0}, {1, 1}}, {{1, 1}, {1, 1}});
  counts.add({{3, 0}}, {{3, 0}, {4, 0}, {5, 0}});
  EXPECT_EQ(counts.common, 2);
  EXPECT_EQ(counts.found, 3);
  EXPECT_EQ(counts.true_ones, 4);
  EXPECT_DOUBLE_EQ(counts.error_rate(), 1 - 4.0 / 7);
}

TEST(alignment, a_word_is_linked_to_what_has_the_most_weight) {
  const std::vector<float> weights = {0.1F, 0.3F, 0.2F, 0.3F, 0.1F};
  EXPECT_EQ(most_attended(weights, 5), 1);
  EXPECT_EQ(most_attended(weights, 1), 0);
  const std::vector<float> at_the_end = {0.1F, 0.2F, 0.7F};
  EXPECT_EQ(most_attended(at_the_end, 2), 1);  // the third is the end marker
  EXPECT_EQ(most_attended(std::vector<float>{0, 0, 0}, 3), 0);
  test::expect_error<ValueError>([&] { most_attended(weights, 6); },
                                 "[most_attended] wanted from 1 to 5 words, came 6");
  EXPECT_THROW(most_attended(weights, 0), ValueError);
}

TEST(alignment, links_to_words_that_are_cut_off_are_left_out) {
  EXPECT_EQ(within({{0, 0}, {1, 3}, {2, 1}, {1, 2}}, 2, 3), (Alignment{{0, 0}, {1, 2}}));
  EXPECT_TRUE(within({{0, 0}}, 0, 5).empty());
}

TEST(alignment, heads_are_ranked_by_their_error_rates) {
  std::vector<RankedHead> heads = {{{0, 1}, {.common = 1, .found = 2, .true_ones = 2}},
                                   {{1, 0}, {.common = 2, .found = 2, .true_ones = 2}},
                                   {{0, 0}, {.common = 1, .found = 2, .true_ones = 2}},
                                   {{1, 1}, {.common = 0, .found = 2, .true_ones = 2}}};
  rank(heads);
  EXPECT_EQ(heads[0].head, (Head{1, 0}));
  EXPECT_EQ(heads[1].head, (Head{0, 0}));
  EXPECT_EQ(heads[2].head, (Head{0, 1}));
  EXPECT_EQ(heads[3].head, (Head{1, 1}));
}

}  // namespace
}  // namespace heed::study
