#include "translate/terminal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include <heed/tensor/creation.h>

#include "translate/alignment_picture.h"
#include "translate/progress.h"

namespace heed::translate {
namespace {

TEST(terminal, width_counts_columns_and_not_bytes) {
  EXPECT_EQ(display_width("cœur"), 4);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);  // a letter and an accent that is put on it
  EXPECT_EQ(display_width("\xFF"), 1);
  EXPECT_EQ(display_width(""), 0);
}

TEST(terminal, cuts_with_an_ellipsis) {
  EXPECT_EQ(fitted("élève", 5), "élève");
  EXPECT_EQ(fitted("élève", 4), "élè…");
  EXPECT_EQ(fitted("日本語", 5), "日本…");
  EXPECT_EQ(fitted("日本語", 4), "日…");
  EXPECT_EQ(fitted("abc", 1), "…");
  EXPECT_EQ(fitted("abc", 0), "");
  EXPECT_EQ(fitted("abc", -1), "");
}

ProgressState some_state() {
  return {.epoch = 12,
          .epochs = 60,
          .step = 1200,
          .steps = 6000,
          .first_step = 600,
          .loss = 0.8734,
          .floor = 0.1537,
          .lr = 0.005,
          .gradient_norm = 0.818,
          .tokens = 41234};
}

TEST(progress_line, tells_all_where_there_is_room) {
  EXPECT_EQ(
      progress_line(some_state(), 1),
      "epoch 12/60  step 1200  loss 0.873  floor 0.154  41,234 tokens/s  lr 0.005  grad 0.82  0:08 left");
  EXPECT_EQ(progress_line(some_state(), 1, 79),
            "ep 12/60 step 1200 loss 0.873 floor 0.154 41,234 tok/s lr 0.005 grad 0.82 0:08");
  EXPECT_EQ(progress_line(some_state(), 1, 60),
            "ep 12/60 loss 0.873 floor 0.154 41,234 tok/s grad 0.82 0:08");
  EXPECT_EQ(progress_line(some_state(), 1, 30), "ep 12/60 loss 0.873 0:08");
  EXPECT_EQ(progress_line(some_state(), 1, 8), "loss 0.…");
}

TEST(progress_line, before_anything_is_known) {
  EXPECT_EQ(progress_line({}, 0),
            "epoch 0/0  step 0  loss 0.000  floor 0.000  0 tokens/s  lr 0  grad 0.00  0:00 left");
  ProgressState state = some_state();
  state.steps = 6'000'000;
  EXPECT_NE(progress_line(state, 3).find("8:19:54 left"), std::string::npos) << progress_line(state, 3);
}

RC_GTEST_PROP(progress_line, is_never_wider_than_the_terminal, (int64_t step, int64_t tokens, double loss)) {
  const auto columns = *rc::gen::inRange(1, 120);
  ProgressState state = some_state();
  state.step = step;
  state.tokens = tokens;
  state.loss = loss;
  RC_ASSERT(display_width(progress_line(state, 0.5, columns)) <= columns);
}

Translation translation_of(const Sentence& source, const Sentence& target, std::vector<float> weights) {
  Translation translation;
  translation.source = source;
  translation.target = target;
  translation.attention =
      from_values<float>(weights, {static_cast<int64_t>(target.size()), static_cast<int64_t>(source.size())});
  return translation;
}

TEST(alignment_picture, shows_both_sentences_and_the_weights) {
  const auto translation = translation_of({"i", "sleep", "<eos>"}, {"je", "dors", "<eos>"},
                                          {.9F, .06F, .04F, .3F, .7F, 0, .2F, .26F, .54F});
  EXPECT_EQ(alignment_picture(translation, 80),
            "      i\n"
            "      │   sleep\n"
            "      │   │   <eos>\n"
            "   je █90 ░ 6\n"
            " dors ▒30 ▓70\n"
            "<eos> ░20 ▒26 ▓54\n");
}

TEST(alignment_picture, rounds_to_the_nearest_percent) {
  const auto translation = translation_of({"a", "b", "c", "d"}, {"e", "f"},
                                          {.0499F, .05F, .094F, .096F, .249F, .2512F, .9949F, .9951F});
  EXPECT_EQ(alignment_picture(translation, 80),
            "  a\n"
            "  │   b\n"
            "  │   │   c\n"
            "  │   │   │   d\n"
            "e     ░ 5 ░ 9 ░10\n"
            "f ░25 ▒25 █99 100\n");
}

TEST(alignment_picture, blocks_stand_alone_where_columns_are_close) {
  const auto translation = translation_of({"i", "sleep", "<eos>"}, {"je", "dors", "<eos>"},
                                          {.9F, .06F, .04F, .3F, .7F, 0, .2F, .26F, .54F});
  EXPECT_EQ(alignment_picture(translation, 18),
            "     i\n"
            "     │   sleep\n"
            "     │   │   <eos>\n"
            "  je █90 ░ 6\n"
            "dors ▒30 ▓70\n"
            "<eo… ░20 ▒26 ▓54\n");
  EXPECT_EQ(alignment_picture(translation, 17),
            "     i\n"
            "     │  sleep\n"
            "     │  │  <eos>\n"
            "  je ██ ░░\n"
            "dors ▒▒ ▓▓\n"
            "<eo… ░░ ▒▒ ▓▓\n");
  EXPECT_EQ(alignment_picture(translation, 12),
            "    i\n"
            "    │sleep\n"
            "    ││<eos>\n"
            " je █░\n"
            "do… ▒▓\n"
            "<e… ░▒▓\n");
}

TEST(alignment_picture, goes_on_below_where_the_source_is_too_long) {
  const auto translation =
      translation_of({"a", "b", "c", "d", "e"}, {"x", "y"}, {1, 0, 0, 0, 0, 0, 0, .3F, .6F, .1F});
  EXPECT_EQ(alignment_picture(translation, 5),
            "  a\n"
            "  │b\n"
            "  ││c\n"
            "x █\n"
            "y   ▒\n"
            "\n"
            "  d\n"
            "  │e\n"
            "x\n"
            "y ▓░\n");
}

RC_GTEST_PROP(alignment_picture, fits_whatever_the_words, ()) {
  const auto words_of = [](int most) {
    Sentence words;
    for (auto count = *rc::gen::inRange(1, most); count > 0; --count)
      words.push_back(std::string(static_cast<size_t>(*rc::gen::inRange(1, 30)), 'w'));
    return words;
  };
  const Sentence source = words_of(200), target = words_of(20);
  const auto translation =
      translation_of(source, target, std::vector<float>(source.size() * target.size(), 0.5F));
  const int columns = *rc::gen::inRange(2, 120);
  const std::string picture = alignment_picture(translation, columns);
  std::istringstream lines(picture);
  size_t count = 0, pictures = 1;
  for (std::string line; std::getline(lines, line); ++count) {
    RC_ASSERT(display_width(line) <= columns);
    pictures += line.empty() ? 1 : 0;
  }
  RC_ASSERT(count == source.size() + pictures * target.size() + pictures - 1);
  if (columns >= 80 && source.size() <= 40) RC_ASSERT(pictures == 1U);
}

}  // namespace
}  // namespace heed::translate
