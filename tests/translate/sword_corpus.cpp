#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scratch.h"
#include "translate/sword_corpus/verses.h"

namespace heed::translate {
namespace {

using Numbers = std::set<std::string>;

Sentence texts_of(const std::vector<NumberedWord>& numbered) {
  Sentence out;
  for (const NumberedWord& word : numbered) out.push_back(word.text);
  return out;
}

TEST(sword_corpus, words_bear_the_numbers_of_their_element) {
  const auto got = words_of_osis(
      R"(<w lemma="strong:H0430">The dog</w>, <w lemma="strong:G12 G003">sees</w> a<w lemma="strong:H7">cat.</w>)");
  EXPECT_EQ(texts_of(got), (Sentence{"the", "dog", ",", "sees", "a", "cat", "."}));
  EXPECT_EQ(got[0].numbers, Numbers{"H430"});
  EXPECT_EQ(got[1].numbers, Numbers{"H430"});
  EXPECT_TRUE(got[2].numbers.empty());
  EXPECT_EQ(got[3].numbers, (Numbers{"G12", "G3"}));
  EXPECT_TRUE(got[4].numbers.empty());
  EXPECT_EQ(got[5].numbers, Numbers{"H7"});
  EXPECT_TRUE(got[6].numbers.empty());  // a mark translates nothing
}

TEST(sword_corpus, notes_and_headings_are_left_out) {
  EXPECT_EQ(texts_of(words_of_osis(R"(<title type="main">Heading</title><div sID="a" type="x-p"/> Dogs<note
      placement="foot"><reference type="x">1:1 </reference>Or: <w lemma="strong:H1">hounds</w></note>run.)")),
            (Sentence{"dogs", "run", "."}));
  EXPECT_EQ(
      texts_of(words_of_osis(R"(<title canonical="true" type="psalm">A song.</title> <l level="1"/>La)")),
      (Sentence{"a", "song", ".", "la"}));
}

TEST(sword_corpus, marks_stand_by_themselves_and_entities_are_read) {
  EXPECT_EQ(texts_of(words_of_osis("¶ “Go—now;” he said: ¿Qué? (A &amp; B’s [dogs]…)")),
            (Sentence{"“", "go", "—", "now", ";",   "”", "he",   "said", ":", "¿", "qué",
                      "?", "(",  "a", "&",   "b's", "[", "dogs", "]",    "…", ")"}));
  EXPECT_TRUE(words_of_osis("").empty());
  EXPECT_TRUE(words_of_osis("<w lemma=\"strong:H1\"></w><div/>").empty());
  EXPECT_EQ(texts_of(words_of_osis("a <b c")), Sentence{"a"});  // a tag that never ends
}

constexpr auto kImp =
    "$$$[ Module Heading ]\n<x/>\n$$$Genesis 0:0\nPreface\n$$$Genesis 1:0\nIntroduction\n"
    "$$$Genesis 1:1\n<w lemma=\"strong:H1\">Dogs</w>\n<w lemma=\"strong:H2\">run</w>.\n"
    "$$$Genesis 1:2\n\n$$$Genesis 1:10\nCats.\n";

TEST(sword_corpus, verses_of_a_module) {
  std::istringstream imp(kImp);
  const std::vector<Verse> verses = read_verses(imp);
  ASSERT_EQ(verses.size(), 2u);
  EXPECT_EQ(verses[0].key, "Genesis 1:1");
  EXPECT_EQ(texts_of(verses[0].words), (Sentence{"dogs", "run", "."}));
  EXPECT_EQ(verses[1].key, "Genesis 1:10");
}

TEST(sword_corpus, words_that_share_a_number_are_linked) {
  const Verse source{"1:1", {{"the", {}}, {"dog", {"H1"}}, {"runs", {"H2", "H3"}}, {"dog", {"H1"}}}};
  const Verse target{"1:1", {{"corre", {"H3", "H9"}}, {"el", {"H1"}}, {"perro", {"H1"}}, {".", {}}}};
  const SentencePair pair = aligned(source, target);
  EXPECT_EQ(pair.source, (Sentence{"the", "dog", "runs", "dog"}));
  EXPECT_EQ(format_alignment(pair.alignment), "1-1 1-2 2-0 3-1 3-2");
}

}  // namespace
}  // namespace heed::translate
