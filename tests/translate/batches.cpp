#include "translate/data/batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <heed/tensor/error.h>
#include <rapidcheck.h>

namespace heed::translate {
namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kX = 4;
constexpr int64_t kY = 5;
constexpr int64_t kZ = 6;

/// x, y and z have the ids 4, 5 and 6.
Vocabulary xyz() {
  const std::vector<Sentence> sentences = {{"x", "y", "z"}};
  return Vocabulary(sentences, 1);
}

Batch batch_of(const std::vector<Encoded>& examples, int64_t length) {
  Ids all(examples.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return make_batch(examples, all, length);
}

TEST(case_C35, a_the_decoder_is_fed_what_it_should_have_said_before) {
  const Encoded example = encode_pair({{"x"}, {"x", "y"}, {}}, xyz(), xyz(), 4);
  const Batch batch = batch_of({example}, 4);
  EXPECT_EQ(batch.target_in, (Ids{Vocabulary::kBegin, kX, kY, Vocabulary::kEnd}));
  EXPECT_EQ(batch.target_out, (Ids{kX, kY, Vocabulary::kEnd, Vocabulary::kPadding}));
  EXPECT_EQ(batch.target_tokens, 3);
  const std::vector<double> losses = {1, 2, 3, 9};
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i)
    sum += batch.target_out[i] == Vocabulary::kPadding ? 0 : losses[i];
  EXPECT_DOUBLE_EQ(sum / static_cast<double>(batch.target_tokens), 2.0);
}

TEST(case_C35, b_a_sentence_that_is_cut_keeps_its_end_marker) {
  const Encoded cut = encode_pair({{"x", "y", "z"}, {"x", "y", "z"}, {}}, xyz(), xyz(), 3);
  EXPECT_EQ(cut.target, (Ids{kX, kY, Vocabulary::kEnd}));
  EXPECT_EQ(cut.source, (Ids{kX, kY, Vocabulary::kEnd}));
  const Encoded whole = encode_pair({{"x", "y", "z"}, {"x", "y"}, {}}, xyz(), xyz(), 4);
  EXPECT_EQ(whole.source, (Ids{kX, kY, kZ, Vocabulary::kEnd}));
  EXPECT_EQ(whole.target, (Ids{kX, kY, Vocabulary::kEnd}));
  for (int64_t length = 1; length < 6; ++length) {
    EXPECT_EQ(encode_pair({{"x"}, {"x", "y", "z"}, {}}, xyz(), xyz(), length).target.back(),
              Vocabulary::kEnd);
  }
}

TEST(case_C35, an_empty_sentence_is_an_end_marker) {
  const Encoded empty = encode_pair({{}, {}, {}}, xyz(), xyz(), 5);
  EXPECT_EQ(empty.source, Ids{Vocabulary::kEnd});
  EXPECT_EQ(empty.target, Ids{Vocabulary::kEnd});
}

TEST(batches, rows_are_padded_in_the_order_of_the_indices) {
  const std::vector<Encoded> examples = {{{kX, 3}, {kY, 3}}, {{kY, kZ, 3}, {3}}, {{3}, {kX, kY, 3}}};
  const Batch batch = make_batch(examples, Ids{2, 1}, 3);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.length, 3);
  EXPECT_EQ(batch.source, (Ids{3, 1, 1, kY, kZ, 3}));
  EXPECT_EQ(batch.source_lengths, (Ids{1, 3}));
  EXPECT_EQ(batch.target_in, (Ids{2, kX, kY, 2, 3, 1}));
  EXPECT_EQ(batch.target_out, (Ids{kX, kY, 3, 3, 1, 1}));
  EXPECT_EQ(batch.target_lengths, (Ids{3, 1}));
  EXPECT_EQ(batch.target_tokens, 4);
}

TEST(batches, no_rows) {
  const Batch batch = make_batch({}, {}, 7);
  EXPECT_EQ(batch.rows, 0);
  EXPECT_EQ(batch.length, 7);
  EXPECT_TRUE(batch.source.empty());
  EXPECT_EQ(batch.target_tokens, 0);
}

TEST(batches, what_does_not_fit_is_an_error) {
  const std::vector<Encoded> examples = {{{kX, kY, 3}, {kX, 3}}};
  EXPECT_THROW(make_batch(examples, Ids{0}, 2), ValueError);
  EXPECT_THROW(make_batch(examples, Ids{0}, 0), ValueError);
  EXPECT_THROW(make_batch(examples, Ids{1}, 3), IndexError);
  EXPECT_THROW(make_batch(examples, Ids{-1}, 3), IndexError);
  EXPECT_THROW(encode_pair({}, xyz(), xyz(), 0), ValueError);
}

Ids order_of(int64_t examples, int64_t batch_size, uint64_t seed, int64_t epoch) {
  const EpochOrder order(examples, batch_size, seed, epoch);
  Ids all;
  for (int64_t i = 0; i < order.batches(); ++i) {
    const auto batch = order.batch(i);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(epoch_order, every_example_once_and_the_last_batch_short) {
  const EpochOrder order(10, 4, 1, 0);
  ASSERT_EQ(order.batches(), 3);
  EXPECT_EQ(order.batch(0).size(), 4u);
  EXPECT_EQ(order.batch(2).size(), 2u);
  Ids all = order_of(10, 4, 1, 0);
  std::sort(all.begin(), all.end());
  Ids expected(10);
  std::iota(expected.begin(), expected.end(), int64_t{0});
  EXPECT_EQ(all, expected);
  EXPECT_EQ(EpochOrder(8, 4, 1, 0).batches(), 2);
  EXPECT_EQ(EpochOrder(0, 4, 1, 0).batches(), 0);
}

TEST(epoch_order, depends_on_seed_and_epoch_alone) {
  EXPECT_EQ(order_of(100, 7, 3, 5), order_of(100, 64, 3, 5));
  EXPECT_NE(order_of(100, 7, 3, 5), order_of(100, 7, 3, 6));
  EXPECT_NE(order_of(100, 7, 3, 5), order_of(100, 7, 4, 5));
  EXPECT_NE(order_of(100, 7, 3, 5), order_of(100, 7, 5, 3));
  // A training that goes on from a checkpoint relies on the very numbers. Computed from the formula in
  // Python.
  EXPECT_EQ(order_of(8, 8, 1, 0), (Ids{7, 5, 2, 6, 3, 0, 1, 4}));
}

TEST(epoch_order, each_order_is_about_as_likely) {
  std::vector<int> first(5, 0);
  for (int64_t epoch = 0; epoch < 5000; ++epoch) ++first[static_cast<size_t>(order_of(5, 5, 9, epoch)[0])];
  for (const int count : first) EXPECT_NEAR(count, 1000, 150);
}

TEST(epoch_order, errors) {
  EXPECT_THROW(EpochOrder(-1, 4, 0, 0), ValueError);
  EXPECT_THROW(EpochOrder(4, 0, 0, 0), ValueError);
  const EpochOrder order(4, 4, 0, 0);
  EXPECT_THROW(order.batch(1), IndexError);
  EXPECT_THROW(order.batch(-1), IndexError);
}

/// Examples whose longer sides have these lengths.
std::vector<Encoded> examples_of(const Ids& lengths) {
  std::vector<Encoded> examples;
  for (const int64_t length : lengths) {
    examples.push_back({Ids(static_cast<size_t>(length), kX), {Vocabulary::kEnd}});
    if (examples.size() % 2 == 0) std::swap(examples.back().source, examples.back().target);
  }
  return examples;
}

std::vector<Ids> batches_of(const EpochOrder& order) {
  std::vector<Ids> batches;
  for (int64_t i = 0; i < order.batches(); ++i)
    batches.emplace_back(order.batch(i).begin(), order.batch(i).end());
  return batches;
}

TEST(bucketed_order, every_example_once_and_no_more_padding_than_there_must_be) {
  EXPECT_TRUE(rc::check([] {
    const auto lengths = *rc::gen::container<Ids>(rc::gen::inRange<int64_t>(1, 12));
    const int64_t size = *rc::gen::inRange<int64_t>(1, 9);
    const std::vector<Encoded> examples = examples_of(lengths);
    const EpochOrder order =
        EpochOrder::bucketed(examples, size, *rc::gen::arbitrary<uint64_t>(), *rc::gen::inRange(0, 99));
    RC_ASSERT(order.batches() == EpochOrder(static_cast<int64_t>(lengths.size()), size, 0, 0).batches());
    Ids seen;
    int64_t padded = 0;
    for (const Ids& batch : batches_of(order)) {
      seen.insert(seen.end(), batch.begin(), batch.end());
      padded += longest_of(examples, batch) * static_cast<int64_t>(batch.size());
      RC_ASSERT(make_batch(examples, batch, longest_of(examples, batch)).rows > 0);
    }
    std::ranges::sort(seen);
    Ids all(lengths.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    RC_ASSERT(seen == all);
    // The least: runs of the sorted lengths.
    Ids sorted = lengths;
    std::ranges::sort(sorted);
    int64_t least = 0;
    for (int64_t i = 0; i < std::ssize(sorted); i += size) {
      const int64_t end = std::min<int64_t>(i + size, std::ssize(sorted));
      least += sorted[static_cast<size_t>(end - 1)] * (end - i);
    }
    RC_ASSERT(padded == least);
  }));
}

TEST(bucketed_order, depends_on_seed_and_epoch_alone_and_mixes) {
  Ids lengths;
  for (int64_t i = 0; i < 200; ++i) lengths.push_back(2 + i % 5);
  const std::vector<Encoded> examples = examples_of(lengths);
  const auto order = [&](uint64_t seed, int64_t epoch) {
    return batches_of(EpochOrder::bucketed(examples, 8, seed, epoch));
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 2));
  std::vector<Ids> batches = order(1, 2), later = order(1, 3);
  const auto length_at = [&](const Ids& batch) { return longest_of(examples, batch); };
  EXPECT_FALSE(std::ranges::is_sorted(batches, {}, length_at));  // long and short ones in turn
  for (std::vector<Ids>* epoch : {&batches, &later})
    for (Ids& batch : *epoch) std::ranges::sort(batch);
  for (const Ids& batch : batches) EXPECT_EQ(std::ranges::count(later, batch), 0);  // new company each epoch
}

TEST(bucketed_order, errors) {
  const std::vector<Encoded> examples = examples_of({3, 2});
  EXPECT_EQ(EpochOrder::bucketed({}, 4, 0, 0).batches(), 0);
  EXPECT_THROW(EpochOrder::bucketed(examples, 0, 0, 0), ValueError);
  EXPECT_THROW(EpochOrder::bucketed(examples, 4, 0, 0).batch(1), IndexError);
  EXPECT_EQ(longest_of(examples, {}), 1);
  EXPECT_THROW(longest_of(examples, Ids{2}), IndexError);
}

TEST(loss_floor, one_translation_each_can_be_learned_completely) {
  EXPECT_EQ(loss_floor({}), 0.0);
  const std::vector<Encoded> examples = {{{kX, 3}, {kX, 3}}, {{kY, 3}, {kX, kY, 3}}, {{kX, 3}, {kX, 3}}};
  EXPECT_EQ(loss_floor(examples), 0.0);
}

TEST(loss_floor, several_translations_cannot) {
  // Source x goes to "x", "y" and "y z": the first word costs 3 H(1/3, 2/3), what follows "y" 2 ln 2, and the
  // ends of "x" and "y z" and the other source nothing. Tokens: 2 + 2 + 3 + 2.
  const std::vector<Encoded> examples = {
      {{kX, 3}, {kX, 3}}, {{kX, 3}, {kY, 3}}, {{kX, 3}, {kY, kZ, 3}}, {{kX, kX, 3}, {kX, 3}}};
  const double first = std::log(3.0) + 2 * std::log(3.0 / 2.0);
  EXPECT_NEAR(loss_floor(examples), (first + 2 * std::log(2.0)) / 9, 1e-12);
}

}  // namespace
}  // namespace heed::translate
