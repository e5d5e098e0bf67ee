#include "translate/data/text.h"

#include <chrono>

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include "scratch.h"
#include "translate/data/vocabulary.h"

namespace heed::translate {
namespace {

constexpr std::string_view kSpecial = "Ça va\u202F? Oui\u2009!\u00A0J\u2019ai froid.";
constexpr std::string_view kPlain = "Ça va ? Oui ! J'ai froid.";

TEST(case_C33, special_and_plain_spaces_and_apostrophes_give_the_same_words) {
  const Sentence expected = {"ça", "va", "?", "oui", "!", "j'ai", "froid", "."};
  EXPECT_EQ(words(kSpecial), expected);
  EXPECT_EQ(words(kPlain), expected);
  EXPECT_EQ(words("Ça va ? Oui ! J\u2018ai froid."), expected);
}

TEST(case_C33, ids_are_the_same_and_marks_have_one_id) {
  const std::vector<Sentence> known = {words("Va ?"), words("Va !"), words(kPlain)};
  const Vocabulary vocabulary(known, 1);
  const std::vector<int64_t> ids = vocabulary.encode(words(kSpecial));
  EXPECT_EQ(ids, vocabulary.encode(words(kPlain)));
  EXPECT_EQ(ids[2], vocabulary.encode(words("va ?"))[1]);
  EXPECT_EQ(ids[4], vocabulary.encode(words("va\u202F!"))[1]);
  for (const int64_t id : ids) EXPECT_NE(id, Vocabulary::kUnknown);
}

TEST(case_C33, no_word_keeps_a_special_space) {
  for (const char* space : {"\u00A0", "\u202F", "\u2009", "\u3000", "\u2028", "\u0085", "\t", "\r", "\x1C"}) {
    EXPECT_EQ(words(std::string("a") + space + "b"), (Sentence{"a", "b"}));
    EXPECT_EQ(clean(std::string("a") + space + "!"), "a !");
  }
}

TEST(case_C33, lower_case_is_valid_utf8) {
  EXPECT_EQ(clean("Ça"), "\xC3\xA7\x61");
  EXPECT_EQ(clean("ÉTÉ Œuf ÀÎÔÊ"), "été œuf àîôê");
  EXPECT_EQ(words("ça"), words("ÇA"));
}

TEST(text, no_word_keeps_a_control_character) {
  for (int code = 0; code < 0xA0; ++code) {
    if (code == 0x20) code = 0x7F;  // DEL and those of Latin 1 come after the letters
    const std::string control =
        code < 0x80 ? std::string(1, static_cast<char>(code)) : std::string{'\xC2', static_cast<char>(code)};
    EXPECT_EQ(words("a" + control + "b"), (Sentence{"a", "b"})) << code;
    EXPECT_FALSE(is_word("a" + control)) << code;
  }
  EXPECT_EQ(words("a\x1B[31mb"), (Sentence{"a", "[31mb"}));
}

TEST(text, byte_order_mark) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFone"), "one");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF"), "");
  for (const char* text : {"", "one", "\xEF\xBB", "one\xEF\xBB\xBF"})
    EXPECT_EQ(without_byte_order_mark(text), text);
}

TEST(text, accents_are_composed) {
  EXPECT_EQ(clean("C\u0327a e\u0301te\u0301"), "ça été");
  // The cedilla belongs before the acute, however they were typed.
  EXPECT_EQ(clean("C\u0301\u0327"), clean("C\u0327\u0301"));
  EXPECT_EQ(clean("\u1112\u1161\u11AB"), "\uD55C");
}

TEST(text, a_space_goes_before_a_mark_that_has_none) {
  EXPECT_EQ(clean("Go."), "go .");
  EXPECT_EQ(clean("Go .  Now,Tom"), "go .  now ,tom");
  EXPECT_EQ(clean("Wait..."), "wait . . .");
  EXPECT_EQ(clean("!a"), "!a");
  EXPECT_EQ(clean(" ?"), " ?");
  EXPECT_EQ(words("  Go .  Now,Tom "), (Sentence{"go", ".", "now", ",tom"}));
}

TEST(text, nothing_is_nothing) {
  EXPECT_EQ(clean(""), "");
  EXPECT_TRUE(words("").empty());
  EXPECT_TRUE(words(" \u202F \t").empty());
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a", "b"}), "a b");
}

TEST(text, invalid_utf8_is_named_by_its_offset) {
  const auto message = [](std::string_view text) { return message_of<ValueError>([&] { clean(text); }); };
  EXPECT_EQ(message("ab\xE9t"), "[clean] wanted valid UTF-8, came byte 0xE9 at offset 2");
  EXPECT_EQ(message("\xC3"), "[clean] wanted valid UTF-8, came byte 0xC3 at offset 0");
  EXPECT_EQ(message("é\xC0\xAF"), "[clean] wanted valid UTF-8, came byte 0xC0 at offset 2");
  EXPECT_EQ(message("a\xED\xA0\x80"), "[clean] wanted valid UTF-8, came byte 0xED at offset 1");
  EXPECT_EQ(message("a\xF4\x90\x80\x80"), "[clean] wanted valid UTF-8, came byte 0xF4 at offset 1");
  EXPECT_EQ(message("\x80"), "[clean] wanted valid UTF-8, came byte 0x80 at offset 0");
}

TEST(text, long_runs_of_marks_take_no_quadratic_time) {
  std::string text = "e";
  for (int i = 0; i < 200000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0327";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(words(text).size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(text, is_word) {
  EXPECT_TRUE(is_word("j'ai"));
  EXPECT_TRUE(is_word("œuf"));
  for (const char* text : {"", "a b", "a\tb", "a\u202F", "\n", "\xE9"}) EXPECT_FALSE(is_word(text)) << text;
}

}  // namespace
}  // namespace heed::translate
