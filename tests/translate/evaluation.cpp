#include "translate/eval/evaluation.h"

#include <gtest/gtest.h>
#include <heed/autograd/grad_mode.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <cmath>

#include "scratch.h"
#include "translate/data/batches.h"
#include "translate/data/dataset.h"

namespace heed::translate {
namespace {

/// A translator with random weights, of sentences of up to `length` - 1 words.
Translator untrained(ModelKind kind, const std::vector<SentencePair>& pairs, int64_t length) {
  manual_seed(3);
  const Architecture architecture{.kind = kind,
                                  .width = 16,
                                  .feed_forward = 24,
                                  .heads = 2,
                                  .layers = 2,
                                  .length = length,
                                  .dropout = 0.3,
                                  .score = usual_score(kind)};
  return {architecture, Vocabulary(sources(pairs), 1), Vocabulary(targets(pairs), 1)};
}

/// The logits (1, length, vocabulary) of one pair by itself, padded to the length of the model.
Tensor logits_of(Translator& translator, const SentencePair& pair) {
  const int64_t length = translator.architecture().length;
  const std::vector<Encoded> one = {encode_pair(pair, translator.source(), translator.target(), length)};
  const Batch batch = make_batch(one, std::vector<int64_t>{0}, length);
  return translator
      .model()(from_values<int64_t>(batch.source, {1, length}),
               from_values<int64_t>(batch.source_lengths, {1}),
               from_values<int64_t>(batch.target_in, {1, length}))
      .data();
}

/// -log softmax(row)[wanted], in f64.
double surprise(std::span<const float> row, int64_t wanted) {
  const double most = *std::ranges::max_element(row);
  double sum = 0;
  for (const float value : row) sum += std::exp(value - most);
  return std::log(sum) + most - row[static_cast<size_t>(wanted)];
}

class Evaluated : public testing::TestWithParam<ModelKind> {
 protected:
  std::vector<SentencePair> pairs_ = load_pairs("", {.limit = 150}).pairs;  // more than one batch
};

TEST_P(Evaluated, LossAndAccuracyAreThoseOfEachPairByItself) {
  Translator translator = untrained(GetParam(), pairs_, 8);  // some are cut
  const Predictions got = predict(translator, pairs_);
  const NoGrad guard;
  translator.model().eval();
  double loss = 0;
  int64_t right = 0, tokens = 0;
  for (const SentencePair& pair : pairs_) {
    const Tensor logits = logits_of(translator, pair);
    const auto size = static_cast<size_t>(translator.target().size());
    const Encoded example = encode_pair(pair, translator.source(), translator.target(), 8);
    for (size_t i = 0; i < example.target.size(); ++i) {
      const auto row = logits.span<float>().subspan(i * size, size);
      loss += surprise(row, example.target[i]);
      right += std::ranges::max_element(row) - row.begin() == example.target[i] ? 1 : 0;
      ++tokens;
    }
  }
  EXPECT_EQ(got.tokens, tokens);
  EXPECT_NEAR(got.loss, loss / static_cast<double>(tokens), 1e-5);
  EXPECT_DOUBLE_EQ(got.token_accuracy, static_cast<double>(right) / static_cast<double>(tokens));
  EXPECT_EQ(got.floor, loss_floor(encode_pairs(pairs_, translator.source(), translator.target(), 8)));
}

TEST_P(Evaluated, HeadsAreRankedByTheWeightsOfTheStepThatPredictsTheWord) {
  Translator translator = untrained(GetParam(), pairs_, 8);
  std::vector<RankedHead> got = rank_heads(translator, pairs_);
  EXPECT_TRUE(std::ranges::is_sorted(got, {}, [](const RankedHead& h) { return h.counts.error_rate(); }));
  const NoGrad guard;
  translator.model().eval();
  for (const RankedHead& ranked : got) {
    AlignmentCounts expected;
    for (const SentencePair& pair : pairs_) {
      const Encoded example = encode_pair(pair, translator.source(), translator.target(), 8);
      const int64_t length = std::ssize(example.source);
      const auto decoding =
          translator.model().start(from_values<int64_t>(example.source, {1, length}),
                                   from_values<int64_t>(std::vector{length}, {1}), {.attention = true});
      Alignment links;
      int64_t fed = Vocabulary::kBegin;
      for (size_t place = 0; place + 1 < example.target.size(); ++place) {
        decoding->step(from_values<int64_t>(std::vector{fed}, {1}));
        const Tensor weights = decoding->attention()[static_cast<size_t>(ranked.head.layer)].contiguous();
        const auto row = weights.span<float>().subspan(static_cast<size_t>(ranked.head.head * length));
        links.emplace_back(study::most_attended(row, length - 1), static_cast<int>(place));
        fed = example.target[place];
      }
      expected.add(links, study::within(pair.alignment, length - 1, std::ssize(example.target) - 1));
    }
    EXPECT_EQ(ranked.counts.common, expected.common) << ranked.head.layer << ", " << ranked.head.head;
    EXPECT_EQ(ranked.counts.found, expected.found);
    EXPECT_EQ(ranked.counts.true_ones, expected.true_ones);
    EXPECT_GE(ranked.counts.error_rate(), best_single_links(translator, pairs_).error_rate());
  }
  EXPECT_EQ(got.size(), GetParam() == ModelKind::bahdanau ? 1u : 4u);
}

TEST_P(Evaluated, TheModeOfTheModelStaysWhatItWas) {
  Translator translator = untrained(GetParam(), pairs_, 10);
  for (const bool training : {true, false}) {
    translator.model().train(training);
    evaluate(translator, {pairs_[0], pairs_[1]}, {pairs_[2]}, 1);
    EXPECT_EQ(translator.model().is_training(), training);
  }
}

TEST_P(Evaluated, TranslationsAreScoredAgainstAllTheirReferences) {
  Translator translator = untrained(GetParam(), pairs_, 10);
  std::vector<SentencePair> test(pairs_.begin(), pairs_.begin() + 6);
  const auto said = [&](size_t i) { return words(translator.translate({joined(test[i].source)})[0]); };
  // Two sources have what the translator says for a second reference; the second of them comes twice with it.
  for (const size_t i : {1U, 4U}) test.push_back({test[i].source, said(i), {}});
  test.push_back(test.back());
  const Evaluation got = evaluate(translator, test, {}, 1);
  EXPECT_EQ(got.pairs, 9);
  EXPECT_EQ(got.sources, 6);
  EXPECT_DOUBLE_EQ(got.exact_match, 2.0 / 6);
  std::vector<Sentence> translations;
  std::vector<std::vector<Sentence>> references;
  for (size_t i = 0; i < 6; ++i) translations.push_back(said(i)), references.push_back({test[i].target});
  references[1].push_back(said(1));
  references[4].push_back(said(4));
  EXPECT_EQ(got.bleu.score, corpus_bleu(translations, references).score);
  EXPECT_EQ(got.bleu.matches, corpus_bleu(translations, references).matches);
  EXPECT_FALSE(got.alignment);  // there was nothing to choose a head on
  const Evaluation beams = evaluate(translator, test, {}, 3);
  EXPECT_EQ(beams.predictions.loss, got.predictions.loss);
}

INSTANTIATE_TEST_SUITE_P(Models, Evaluated, testing::Values(ModelKind::bahdanau, ModelKind::transformer));

TEST(evaluation, questions_have_all_references_of_a_source) {
  const std::vector<SentencePair> pairs = {
      {{"a"}, {"x"}, {}}, {{"b"}, {"y"}, {}}, {{"a"}, {"z"}, {}}, {{"a"}, {"x"}, {}}};
  const std::vector<Question> asked = questions(pairs);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].source, Sentence{"a"});
  EXPECT_EQ(asked[0].references, (std::vector<Sentence>{{"x"}, {"z"}, {"x"}}));
  EXPECT_EQ(asked[1].references, (std::vector<Sentence>{{"y"}}));
}

TEST(evaluation, the_best_single_links) {
  // "a b" - "x y z": x has both, y has b, z has none: two true links of three that must be made, of three.
  const std::vector<SentencePair> pairs = {{{"a", "b"}, {"x", "y", "z"}, {{0, 0}, {1, 0}, {1, 1}}}};
  Translator translator = untrained(ModelKind::bahdanau, pairs, 9);
  const AlignmentCounts counts = best_single_links(translator, pairs);
  EXPECT_EQ(counts.common, 2);
  EXPECT_EQ(counts.found, 3);
  EXPECT_EQ(counts.true_ones, 3);
  const AlignmentCounts cut =
      best_single_links(untrained(ModelKind::bahdanau, pairs, 2), pairs);  // "a" - "x"
  EXPECT_EQ(cut.error_rate(), 0.0);
  EXPECT_EQ(cut.true_ones, 1);
}

TEST(evaluation, nothing_to_score_is_an_error) {
  const std::vector<SentencePair> pairs = {{{"a"}, {"x"}, {}}};
  Translator translator = untrained(ModelKind::transformer, pairs, 4);
  EXPECT_THROW(evaluate(translator, {}, pairs, 1), ValueError);
  EXPECT_EQ(predict(translator, {}).tokens, 0);
  EXPECT_TRUE(rank_heads(translator, pairs).empty());  // no gold links
}

}  // namespace
}  // namespace heed::translate
