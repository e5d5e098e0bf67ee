#include <gtest/gtest.h>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/storage.h>

#include "tests/translate/scratch.h"
#include "tests/translate/small_translator.h"
#include "translate/training.h"

namespace heed::translate {
namespace {

const std::vector<std::string> kTexts{"You sleep.", "",   "we eat .", "we we run . i eat , you sleep .",
                                      "quux .",     "   "};

class Decoding : public testing::TestWithParam<ModelKind> {
 protected:
  static Translator trained(int64_t steps = 60) {
    Translator translator = small_translator(GetParam());
    const auto examples = small_examples(translator);
    Training training(translator.model(), examples, {.batch = 4, .lr = optim::constant(0.01)});
    for (int64_t i = 0; i < steps; ++i) training.step();
    return translator;
  }

  static std::vector<std::string> texts(const std::vector<Translation>& translations) {
    std::vector<std::string> all;
    for (const Translation& translation : translations) all.push_back(translation.text);
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Model, Decoding, testing::Values(ModelKind::bahdanau, ModelKind::transformer),
                         [](const auto& kind) { return model_names().at(static_cast<int64_t>(kind.param)); });

TEST_P(Decoding, side_by_side_equals_one_by_one) {
  Translator translator = trained();
  for (const int64_t beam : {1, 2, 5}) {
    const TranslateOptions options{.beam = beam};
    const auto together = texts(translator.translate(kTexts, options));
    ASSERT_EQ(together.size(), kTexts.size());
    for (size_t i = 0; i < kTexts.size(); ++i)
      EXPECT_EQ(texts(translator.translate({kTexts[i]}, options)), std::vector{together[i]}) << beam << i;
    EXPECT_EQ(together[1], "");
    EXPECT_EQ(together[5], "");
    EXPECT_NE(together[0], "");
  }
}

TEST_P(Decoding, more_sentences_than_go_into_one_batch_keep_their_order) {
  Translator translator = trained();
  std::vector<std::string> many, wanted;
  const auto some = translator.translate(kTexts);
  for (int i = 0; i < 50; ++i) {
    many.insert(many.end(), kTexts.begin(), kTexts.end());
    wanted.insert(wanted.end(), some.begin(), some.end());
  }
  EXPECT_EQ(translator.translate(many), wanted);
  EXPECT_TRUE(translator.translate({}).empty());
}

TEST_P(Decoding, many_sentences_take_no_more_memory_than_a_wide_beam_of_one) {
  Translator translator = trained();
  const auto peak_of = [&](const std::vector<std::string>& sentences) {
    const int64_t before = memory_stats().current;
    reset_peak_memory();
    translator.translate(sentences, {.beam = 128});
    return memory_stats().peak - before;
  };
  const std::string longest = kTexts[3];
  const int64_t one = peak_of({longest});
  EXPECT_LT(peak_of(std::vector<std::string>(12, longest)), one * 3 / 2);
}

TEST_P(Decoding, attention_is_told_beside_the_words_and_changes_none) {
  Translator translator = trained();
  const auto silent = texts(translator.translate(kTexts, {.beam = 2}));
  const auto telling = translator.translate(kTexts, {.beam = 2, .attention = true});
  EXPECT_EQ(texts(telling), silent);
  EXPECT_FALSE(telling[1].attention.defined());
  for (const size_t i : {0, 2, 3, 4}) {
    const Translation& translation = telling[i];
    const auto rows = static_cast<int64_t>(translation.target.size()),
               columns = static_cast<int64_t>(translation.source.size());
    ASSERT_EQ(translation.attention.shape(), Shape({rows, columns}));
    EXPECT_EQ(translation.source.back(), "<eos>");
    const Tensor sums = kernels::sum(translation.attention, {1});
    for (const float sum : sums.span<float>()) EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_EQ(telling[3].source.size(), 8);  // as many as the model reads
}

TEST_P(Decoding, a_row_of_attention_is_the_same_whatever_stands_beside_it) {
  Translator translator = trained();
  const auto together = translator.translate(kTexts, {.attention = true});
  const auto alone = translator.translate({kTexts[0]}, {.attention = true}).front();
  const auto a = together[0].attention.span<float>(), b = alone.attention.span<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST_P(Decoding, unknown_words_are_replaced_by_what_was_looked_at) {
  Translator translator = small_translator(GetParam());
  // Nothing but <unk> is ever likely.
  for (auto& [name, parameter] : translator.model().named_parameters())
    if (name == "output.bias") parameter.data().select(0, Vocabulary::kUnknown).fill(100);
  const std::string text = "zebra run xylophone";
  const auto plain = translator.translate({text}, {.attention = true}).front();
  const auto replaced = translator.translate({text}, {.replace_unknown = true}).front();
  ASSERT_EQ(plain.target, Sentence(8, "<unk>"));
  ASSERT_EQ(replaced.target.size(), 8);
  for (int64_t t = 0; t < 8; ++t) {
    size_t most = 0;
    for (size_t j = 0; j < 3; ++j)
      if (plain.attention.at({t, static_cast<int64_t>(j)}) >
          plain.attention.at({t, static_cast<int64_t>(most)}))
        most = j;
    EXPECT_EQ(replaced.target[static_cast<size_t>(t)], words(text)[most]) << t;
  }
  EXPECT_EQ(replaced.text, joined(replaced.target));
}

TEST_P(Decoding, leaves_the_model_in_the_mode_that_it_was_in) {
  Translator translator = small_translator(GetParam());
  translator.model().train();
  const auto first = translator.translate(kTexts);
  EXPECT_TRUE(translator.model().is_training());
  translator.model().eval();
  EXPECT_EQ(translator.translate(kTexts), first);
  EXPECT_FALSE(translator.model().is_training());
}

TEST_P(Decoding, names_a_beam_that_is_none) {
  Translator translator = small_translator(GetParam());
  EXPECT_EQ(message_of<ValueError>([&] { translator.translate({"i run"}, {.beam = 0}); }),
            "[beam_search] wanted a beam of 1 or more, came 0");
}

}  // namespace
}  // namespace heed::translate
