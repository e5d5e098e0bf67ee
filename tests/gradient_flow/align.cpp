#include "gradient_flow/align.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include <algorithm>
#include <cmath>

#include "tests/translate/scratch.h"

namespace heed::gradient_flow {
namespace {

TEST(AlignTest, a_head_learns_which_word_translates_which) {
  const AlignResult result = measure_align({.pairs = 1500, .sentences = 60, .steps = 200, .every = 100});
  EXPECT_EQ(result.steps, (std::vector<double>{0, 100, 200}));
  ASSERT_EQ(result.heads.size(), 8) << "two layers of four";
  EXPECT_TRUE(std::isnan(result.losses[0]));
  EXPECT_LT(result.losses[2], result.losses[1]);
  double before = 1, after = 1;
  for (const auto& head : result.heads) {
    ASSERT_EQ(head.error_rates.size(), 3);
    for (const double rate : head.error_rates) {
      EXPECT_GE(rate, result.lowest);
      EXPECT_LE(rate, 1);
    }
    before = std::min(before, head.error_rates.front());
    after = std::min(after, head.error_rates.back());
  }
  EXPECT_GT(before, 0.6);
  EXPECT_LT(after, 0.5);
  EXPECT_EQ(result.heads[5].name, "L1H1");
  ASSERT_EQ(result.layers.size(), 2);
  EXPECT_EQ(result.layers[1].name, "decoder.layers.1.cross_attention");
  EXPECT_EQ(result.layers[1].keys.back().text, "<eos>");
  EXPECT_TRUE(result.layers[1].keys.back().special);
  const auto queries = std::ssize(result.layers[1].queries), keys = std::ssize(result.layers[1].keys);
  EXPECT_EQ(result.layers[1].gradients.shape(), Shape({4, queries, keys}));
  EXPECT_EQ(findings_of(result).page.charts.size(), 2);
}

TEST(AlignTest, bahdanau_has_one_head) {
  const AlignResult result = measure_align(
      {.model = translate::ModelKind::bahdanau, .pairs = 60, .sentences = 10, .steps = 3, .every = 2});
  EXPECT_EQ(result.heads.size(), 1);
  ASSERT_EQ(result.layers.size(), 1);
  EXPECT_EQ(result.layers[0].name, "attention");
  EXPECT_EQ(result.steps, (std::vector<double>{0, 2})) << "a measurement after each two steps";
}

TEST(AlignTest, wants_pairs_to_train_on) {
  EXPECT_EQ(translate::message_of<ValueError>([] { measure_align({.pairs = 10, .sentences = 10}); }),
            "[align] wanted fewer sentences to keep out than pairs, came 10 of 10");
}

}  // namespace
}  // namespace heed::gradient_flow
