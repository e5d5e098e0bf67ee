#include "translate/beam_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <heed/tensor/creation.h>

#include "tests/translate/scratch.h"

namespace heed::translate {
namespace {

using Tokens = std::vector<int64_t>;
/// The probabilities of what follows a prefix.
using Table = std::function<std::vector<double>(const Tokens& prefix)>;

constexpr int64_t kA = 0, kB = 1, kEnd = 2, kBegin = 9;

/// A model that is a table, and that checks that it is fed what its rows were said to be.
class TableModel : public StepModel {
 public:
  TableModel(Table table, int64_t sentences)
      : table_(std::move(table)), prefixes_(static_cast<size_t>(sentences)) {}

  Tensor step(std::span<const int64_t> tokens) override {
    EXPECT_EQ(tokens.size(), prefixes_.size());
    std::vector<float> all;
    for (size_t row = 0; row < prefixes_.size(); ++row) {
      if (tokens[row] != kBegin) prefixes_[row].push_back(tokens[row]);
      for (const double p : table_(prefixes_[row])) all.push_back(static_cast<float>(std::log(p)));
    }
    ++steps_;
    const auto rows = static_cast<int64_t>(prefixes_.size());
    return from_values<float>(all, {rows, static_cast<int64_t>(all.size()) / rows});
  }

  void select(std::span<const int64_t> rows) override {
    std::vector<Tokens> next;
    for (const int64_t row : rows) next.push_back(prefixes_.at(static_cast<size_t>(row)));
    prefixes_ = std::move(next);
  }

  int64_t steps() const { return steps_; }

 private:
  Table table_;
  std::vector<Tokens> prefixes_;
  int64_t steps_ = 0;
};

/// The table of the case: {a, b, end}.
std::vector<double> three_words(const Tokens& prefix) {
  if (prefix.empty()) return {.55, .45, 0};
  if (prefix == Tokens{kA}) return {.4, .3, .3};
  if (prefix == Tokens{kB}) return {.03, .02, .95};
  return {.05, .05, .9};
}

std::vector<Hypothesis> search(const Table& table, int64_t beam, int64_t max_length = 8, double penalty = 0) {
  TableModel model(table, 1);
  return beam_search(model, 1,
                     {.beam = beam,
                      .max_length = max_length,
                      .begin = kBegin,
                      .end = kEnd,
                      .length_penalty = penalty})
      .front();
}

/// All sentences of at most `most` tokens, the end marker included, with their probabilities.
void list_all(const Table& table, const Tokens& prefix, double p, size_t most,
              std::map<Tokens, double>& all) {
  if (prefix.size() == most) return;
  const std::vector<double> next = table(prefix);
  if (next[kEnd] > 0) all[prefix] = p * next[kEnd];
  for (const int64_t word : {kA, kB}) {
    Tokens longer = prefix;
    longer.push_back(word);
    if (next[static_cast<size_t>(word)] > 0)
      list_all(table, longer, p * next[static_cast<size_t>(word)], most, all);
  }
}

void expect_sound(const std::vector<Hypothesis>& found) {
  std::set<Tokens> seen;
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(std::isfinite(found[i].score));
    EXPECT_TRUE(seen.insert(found[i].tokens).second);
    if (i == 0) continue;
    EXPECT_GE(found[i - 1].finished, found[i].finished);
    if (found[i - 1].finished == found[i].finished) {
      EXPECT_LE(found[i].score, found[i - 1].score);
    }
  }
}

TEST(case_C39, a_beam_of_one_is_greedy) {
  const auto found = search(three_words, 1);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].tokens, (Tokens{kA, kA}));
  EXPECT_TRUE(found[0].finished);
  EXPECT_NEAR(found[0].log_probability, -1.619488, 1e-6);
}

TEST(case_C39, a_beam_of_two_finds_the_better_one) {
  const auto found = search(three_words, 2);
  EXPECT_EQ(found.at(0).tokens, Tokens{kB});
  EXPECT_NEAR(found.at(0).score, -0.849801, 1e-6);
  expect_sound(found);
}

TEST(case_C39, a_beam_wider_than_the_vocabulary) {
  const auto found = search(three_words, 5);
  ASSERT_EQ(found.size(), 5);
  expect_sound(found);
  const std::vector<std::pair<Tokens, double>> wanted{
      {{kB}, .4275}, {{kA, kA}, .198}, {{kA}, .165}, {{kA, kB}, .1485}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(found[i].tokens, wanted[i].first) << i;
    EXPECT_NEAR(std::exp(found[i].score), wanted[i].second, 1e-6) << i;
  }
}

TEST(case_C39, a_beam_that_drops_nothing_finds_what_a_list_of_all_sentences_has) {
  std::map<Tokens, double> all;
  list_all(three_words, {}, 1, 7, all);
  const auto found = search(three_words, 300, 7);
  expect_sound(found);
  size_t finished = 0;
  for (const Hypothesis& hypothesis : found)
    if (hypothesis.finished) {
      ++finished;
      ASSERT_TRUE(all.contains(hypothesis.tokens));
      EXPECT_NEAR(std::exp(hypothesis.score), all.at(hypothesis.tokens), 1e-6);
    }
  EXPECT_EQ(finished, all.size());
}

TEST(case_C39, a_model_that_never_ends_is_stopped) {
  for (const int64_t beam : {1, 2, 5}) {
    TableModel model([](const Tokens&) { return std::vector<double>{1, 0, 0}; }, 1);
    const auto found =
        beam_search(model, 1, {.beam = beam, .max_length = 8, .begin = kBegin, .end = kEnd}).front();
    ASSERT_EQ(found.size(), 1) << beam;
    EXPECT_EQ(found[0].tokens, Tokens(8, kA));
    EXPECT_FALSE(found[0].finished);
    EXPECT_EQ(found[0].score, 0);
    EXPECT_EQ(model.steps(), 8);
  }
}

TEST(case_C39, no_beam_is_an_error) {
  EXPECT_EQ(message_of<ValueError>([] { search(three_words, 0); }),
            "[beam_search] wanted a beam of 1 or more, came 0");
  EXPECT_EQ(message_of<ValueError>([] { search(three_words, 1, 0); }),
            "[beam_search] wanted a length of 1 or more, came 0");
  EXPECT_EQ(message_of<ValueError>([] { search(three_words, 1, 1, -1); }),
            "[beam_search] wanted a length penalty of 0 or more, came -1");
}

TEST(beam_search, probabilities_that_are_no_numbers_are_an_error) {
  const auto broken = [](const Tokens&) { return std::vector<double>{.5, NAN, .5}; };
  EXPECT_EQ(message_of<ValueError>([&] { search(broken, 2); }),
            "[beam_search] wanted log-probabilities, came NaN for token 1");
}

TEST(beam_search, a_dead_end_leaves_the_other_hypotheses) {
  const auto table = [](const Tokens& prefix) {
    if (prefix.empty()) return std::vector<double>{.9, .1, 0};
    return prefix.front() == kA ? std::vector<double>{0, 0, 0} : std::vector<double>{0, 0, 1};
  };
  const auto found = search(table, 2);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].tokens, Tokens{kB});
  EXPECT_TRUE(search(table, 1).empty());
}

TEST(beam_search, the_length_penalty_prefers_longer_ones) {
  const auto table = [](const Tokens& prefix) {
    if (prefix.empty()) return std::vector<double>{.6, 0, .4};
    return prefix.size() < 3 ? std::vector<double>{.8, .1, .1} : std::vector<double>{0, 0, 1};
  };
  EXPECT_EQ(search(table, 4, 8, 0).front().tokens, Tokens{});
  const auto found = search(table, 4, 8, 1);
  EXPECT_EQ(found.front().tokens, Tokens(3, kA));
  EXPECT_NEAR(found.front().score, std::log(.6 * .8 * .8) / 4, 1e-6);
}

/// A table of random probabilities, some of them 0; what it gives is a function of the prefix alone.
Table random_table(uint64_t seed) {
  return [seed](const Tokens& prefix) {
    uint64_t state = seed;
    for (const int64_t token : prefix)
      state = state * 6364136223846793005ULL + static_cast<uint64_t>(token) + 1;
    std::vector<double> weights;
    for (int i = 0; i < 3; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      weights.push_back(static_cast<double>((state >> 33) % 8));
    }
    weights[kA] += 1;
    const double sum = weights[0] + weights[1] + weights[2];
    for (double& weight : weights) weight /= sum;
    return weights;
  };
}

RC_GTEST_PROP(beam_search, results_are_distinct_sorted_and_possible, (uint64_t seed)) {
  const Table table = random_table(seed);
  const auto beam = *rc::gen::inRange<int64_t>(1, 7);
  const auto penalty = *rc::gen::element(0.0, 0.6, 1.0);
  const auto found = search(table, beam, 6, penalty);
  RC_ASSERT(!found.empty() && found.size() <= static_cast<size_t>(beam));
  expect_sound(found);
  for (const Hypothesis& hypothesis : found) {
    double p = 1;
    Tokens prefix;
    for (const int64_t token : hypothesis.tokens) {
      p *= table(prefix)[static_cast<size_t>(token)];
      prefix.push_back(token);
    }
    if (hypothesis.finished) p *= table(prefix)[kEnd];
    RC_ASSERT(p > 0);
    RC_ASSERT(std::abs(std::log(p) - hypothesis.log_probability) < 1e-5);
    const auto length = static_cast<double>(hypothesis.tokens.size() + (hypothesis.finished ? 1 : 0));
    RC_ASSERT(std::abs(std::log(p) / std::pow(length, penalty) - hypothesis.score) < 1e-5);
  }
}

RC_GTEST_PROP(beam_search, sentences_beside_each_other_are_as_alone, (std::vector<uint64_t> seeds)) {
  const auto beam = *rc::gen::inRange<int64_t>(1, 5);
  class Several : public StepModel {
   public:
    explicit Several(const std::vector<uint64_t>& seeds) {
      for (const uint64_t seed : seeds) models_.emplace_back(seed, Tokens{});
    }
    Tensor step(std::span<const int64_t> tokens) override {
      std::vector<float> all;
      for (size_t row = 0; row < models_.size(); ++row) {
        if (tokens[row] != kBegin) models_[row].second.push_back(tokens[row]);
        for (const double p : random_table(models_[row].first)(models_[row].second))
          all.push_back(static_cast<float>(std::log(p)));
      }
      return from_values<float>(all, {static_cast<int64_t>(models_.size()), 3});
    }
    void select(std::span<const int64_t> rows) override {
      std::vector<std::pair<uint64_t, Tokens>> next;
      for (const int64_t row : rows) next.push_back(models_.at(static_cast<size_t>(row)));
      models_ = std::move(next);
    }

   private:
    std::vector<std::pair<uint64_t, Tokens>> models_;
  } model(seeds);
  const auto together = beam_search(model, static_cast<int64_t>(seeds.size()),
                                    {.beam = beam, .max_length = 5, .begin = kBegin, .end = kEnd});
  RC_ASSERT(together.size() == seeds.size());
  for (size_t i = 0; i < seeds.size(); ++i) {
    const auto alone = search(random_table(seeds[i]), beam, 5, 1);
    RC_ASSERT(together[i].size() == alone.size());
    for (size_t j = 0; j < alone.size(); ++j) {
      RC_ASSERT(together[i][j].tokens == alone[j].tokens);
      RC_ASSERT(together[i][j].score == alone[j].score);
    }
  }
}

}  // namespace
}  // namespace heed::translate
