#include "translate/corpus/corpus.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include "scratch.h"
#include "translate/data/text.h"

namespace heed::translate {
namespace {

struct Expected {
  const char* source;
  const char* target;
  const char* alignment;
};

constexpr Expected kExpected[] = {
    // articles, elision, gender and number
    {"I read our letters.", "Je lis nos lettres.", "0-0 1-1 2-2 3-3 4-4"},
    {"You eat an apple.", "Tu manges une pomme.", "0-0 1-1 2-2 3-3 4-4"},
    {"You ate cakes.", "Tu as mangé des gâteaux.", "0-0 1-1 1-2 2-3 2-4 3-5"},
    {"Do not buy my orange!", "N'achète pas mon orange !", "0-0 1-0 1-1 2-0 3-2 4-3 5-4"},
    {"The child does not love her.", "L'enfant ne l'aime pas.", "0-0 1-0 2-1 3-1 3-3 4-2 5-2 6-4"},
    {"This man buys our beautiful houses.", "Cet homme achète nos belles maisons.",
     "0-0 1-1 2-2 3-3 4-4 5-5 6-6"},
    {"This child opens this door.", "Cet enfant ouvre cette porte.", "0-0 1-1 2-2 3-3 4-4 5-5"},
    {"I sell the black horses.", "Je vends les chevaux noirs.", "0-0 1-1 2-2 3-4 4-3 5-5"},
    // adjectives before and behind the noun
    {"The old man helps two women.", "Le vieil homme aide deux femmes.", "0-0 1-1 2-2 3-3 4-4 5-5 6-6"},
    {"The old man reads a red book.", "Le vieil homme lit un livre rouge.",
     "0-0 1-1 2-2 3-3 4-4 5-6 6-5 7-7"},
    {"We see an old church.", "Nous voyons une vieille église.", "0-0 1-1 2-2 3-3 4-4 5-5"},
    {"Do not look for the beautiful child!", "Ne cherche pas le bel enfant !",
     "0-0 1-0 1-2 2-1 3-1 4-3 5-4 6-5 7-6"},
    {"The happy girls are near my school.", "Les filles heureuses sont près de mon école.",
     "0-0 1-2 2-1 3-3 4-4 4-5 5-6 6-7 7-8"},
    {"The rich children love her.", "Les enfants riches l'aiment.", "0-0 1-2 2-1 3-3 4-3 5-4"},
    // negation
    {"I do not see him.", "Je ne le vois pas.", "0-0 1-1 2-1 2-4 3-3 4-2 5-5"},
    {"I do not help his beautiful children.", "Je n'aide pas ses beaux enfants.",
     "0-0 1-1 2-1 2-2 3-1 4-3 5-4 6-5 7-6"},
    {"I do not have a bird.", "Je n'ai pas d'oiseau.", "0-0 1-1 2-1 2-2 3-1 4-3 5-3 6-4"},
    {"We do not buy a beautiful bird.", "Nous n'achetons pas de bel oiseau.",
     "0-0 1-1 2-1 2-2 3-1 4-3 5-4 6-5 7-6"},
    {"She never buys your red house.", "Elle n'achète jamais ta maison rouge.",
     "0-0 1-1 1-2 2-1 3-3 4-5 5-4 6-6"},
    {"These queens are not tired.", "Ces reines ne sont pas fatiguées.", "0-0 1-1 2-3 3-2 3-4 4-5 5-6"},
    {"My sister is not sad.", "Ma sœur n'est pas triste.", "0-0 1-1 2-2 3-2 3-3 4-4 5-5"},
    // object pronouns
    {"He loves us.", "Il nous aime.", "0-0 1-2 2-1 3-3"},
    {"They help him.", "Ils l'aident.", "0-0 1-1 2-1 3-2"},
    {"She does not look for them.", "Elle ne les cherche pas.", "0-0 1-1 2-1 2-4 3-3 4-3 5-2 6-5"},
    {"You never help him.", "Tu ne l'aides jamais.", "0-0 1-1 1-3 2-2 3-2 4-4"},
    // questions
    {"Do you see him?", "Est-ce que tu le vois ?", "0-0 0-1 1-2 2-4 3-3 4-5"},
    {"Does he help us?", "Est-ce qu'il nous aide ?", "0-0 0-1 1-1 2-3 3-2 4-4"},
    {"Does the sick queen buy an orange?", "Est-ce que la reine malade achète une orange ?",
     "0-0 0-1 1-2 2-4 3-3 4-5 5-6 6-7 7-8"},
    {"Is she happy?", "Est-ce qu'elle est heureuse ?", "0-0 0-1 0-2 1-1 2-3 3-4"},
    {"Are her horses very old?", "Est-ce que ses chevaux sont très vieux ?",
     "0-0 0-1 0-4 1-2 2-3 3-5 4-6 5-7"},
    {"Can she see their cakes?", "Est-ce qu'elle peut voir leurs gâteaux ?",
     "0-0 0-1 0-2 1-1 2-3 3-4 4-5 5-6"},
    {"Where is his beautiful house?", "Où est sa belle maison ?", "0-0 1-1 2-2 3-3 4-4 5-5"},
    {"Who has three beautiful houses?", "Qui a trois belles maisons ?", "0-0 1-1 2-2 3-3 4-4 5-5"},
    {"Who is in the church?", "Qui est dans l'église ?", "0-0 1-1 2-2 3-3 4-3 5-4"},
    // past, future, modals
    {"I ran near their school.", "J'ai couru près de leur école.", "0-0 1-0 1-1 2-2 2-3 3-4 4-5 5-6"},
    {"He saw my white cow yesterday.", "Il a vu ma vache blanche hier.", "0-0 1-1 1-2 2-3 3-5 4-4 5-6 6-7"},
    {"We are going to work tomorrow.", "Nous allons travailler demain.", "0-0 1-1 2-1 3-2 4-2 5-3 6-4"},
    {"I am going to look for our hats.", "Je vais chercher nos chapeaux.",
     "0-0 1-1 2-1 3-2 4-2 5-2 6-3 7-4 8-5"},
    {"They want to sleep in your school.", "Ils veulent dormir dans ton école.",
     "0-0 1-1 2-2 3-2 4-3 5-4 6-5 7-6"},
    {"We can see his old tree.", "Nous pouvons voir son vieil arbre.", "0-0 1-1 2-2 3-3 4-4 5-5 6-6"},
    // places, existence, exclamations, orders
    {"He works in front of your school.", "Il travaille devant ton école.",
     "0-0 1-1 2-2 3-2 4-2 5-3 6-4 7-5"},
    {"They do not sleep near the garden.", "Ils ne dorment pas près du jardin.",
     "0-0 1-1 2-1 2-3 3-2 4-4 4-5 5-5 6-6 7-7"},
    {"There are three horses under the tree.", "Il y a trois chevaux sous l'arbre.",
     "0-0 0-1 0-2 1-0 1-1 1-2 2-3 3-4 4-5 5-6 6-6 7-7"},
    {"We sing every day.", "Nous chantons chaque jour.", "0-0 1-1 2-2 3-3 4-4"},
    {"What an old tree!", "Quel vieil arbre !", "0-0 1-0 2-1 3-2 4-3"},
    {"Open his green window!", "Ouvre sa fenêtre verte !", "0-0 1-1 2-3 3-2 4-4"},
};

const std::vector<CorpusEntry>& everything() {
  static const std::vector<CorpusEntry> kAll = corpus_entries(corpus_size(), 0);
  return kAll;
}

TEST(corpus, sentences_are_translated_and_aligned_as_a_person_would) {
  std::map<std::string, const CorpusEntry*> by_source;
  for (const CorpusEntry& entry : everything()) by_source[entry.source] = &entry;
  for (const Expected& expected : kExpected) {
    const auto found = by_source.find(expected.source);
    ASSERT_NE(found, by_source.end()) << expected.source;
    EXPECT_EQ(found->second->target, expected.target);
    EXPECT_EQ(format_alignment(found->second->alignment), expected.alignment) << expected.source;
  }
}

TEST(corpus, every_source_has_one_translation) {
  EXPECT_GE(corpus_size(), 10000);
  std::set<std::string> sources;
  for (const CorpusEntry& entry : everything()) sources.insert(joined(words(entry.source)));
  EXPECT_EQ(static_cast<int64_t>(sources.size()), corpus_size());
}

TEST(corpus, sentences_look_like_those_of_real_files) {
  for (const CorpusEntry& entry : everything()) {
    for (const std::string& text : {entry.source, entry.target}) {
      EXPECT_TRUE(text.front() >= 'A' && text.front() <= 'Z') << text;
      EXPECT_EQ(text.find("  "), std::string::npos) << text;
    }
    const char mark = entry.source.back();
    EXPECT_TRUE(mark == '.' || mark == '?' || mark == '!') << entry.source;
    EXPECT_TRUE(entry.target.ends_with(mark == '.' ? std::string(".") : std::string(" ") + mark))
        << entry.target;
  }
}

TEST(corpus, lengths_and_alignments_fit_the_words) {
  for (const SentencePair& pair : corpus(corpus_size(), 0)) {
    const auto source = static_cast<int>(pair.source.size());
    const auto target = static_cast<int>(pair.target.size());
    ASSERT_LE(std::max(source, target), kCorpusLongest) << joined(pair.source);
    std::set<int> sources;
    std::set<int> targets;
    for (const auto& [from, to] : pair.alignment) {
      sources.insert(from);
      targets.insert(to);
    }
    // Every word of either side, and none besides.
    EXPECT_EQ(static_cast<int>(sources.size()), source) << joined(pair.source);
    EXPECT_EQ(static_cast<int>(targets.size()), target) << joined(pair.target);
    EXPECT_TRUE(*sources.begin() == 0 && *sources.rbegin() == source - 1) << joined(pair.source);
    EXPECT_TRUE(*targets.begin() == 0 && *targets.rbegin() == target - 1) << joined(pair.target);
    EXPECT_EQ(pair.alignment.back(), std::make_pair(source - 1, target - 1));
    EXPECT_TRUE(std::is_sorted(pair.alignment.begin(), pair.alignment.end()));
  }
}

bool opens_with_vowel(const std::string& word) {
  static const std::set<std::string> kAccented = {"é", "è", "ê", "â"};
  return std::string("aeiouh").find(word.front()) != std::string::npos ||
         kAccented.contains(word.substr(0, 2));
}

TEST(corpus, french_elides_wherever_it_must) {
  static const std::set<std::string> kElided = {"je", "le", "la", "ne", "de",  "que",
                                                "ma", "ta", "sa", "ce", "beau"};
  for (const SentencePair& pair : corpus(corpus_size(), 0)) {
    for (size_t i = 0; i + 1 < pair.target.size(); ++i) {
      const std::string& word = pair.target[i];
      const std::string& next = pair.target[i + 1];
      const bool contracted = word == "de" && (next == "le" || next == "les");
      const bool hiatus = kElided.contains(word) && opens_with_vowel(next);
      EXPECT_FALSE(contracted || hiatus) << joined(pair.target);
    }
  }
}

TEST(corpus, english_articles_fit_the_next_word) {
  for (const SentencePair& pair : corpus(corpus_size(), 0)) {
    for (size_t i = 0; i + 1 < pair.source.size(); ++i) {
      const bool vowel = std::string("aeiou").find(pair.source[i + 1].front()) != std::string::npos;
      EXPECT_FALSE(pair.source[i] == (vowel ? "a" : "an")) << joined(pair.source);
    }
  }
}

TEST(corpus, a_sample_depends_on_the_seed_alone) {
  const auto texts = [](int64_t pairs, uint64_t seed) {
    std::vector<std::string> out;
    for (const CorpusEntry& entry : corpus_entries(pairs, seed))
      out.push_back(entry.source + "\t" + entry.target);
    return out;
  };
  EXPECT_EQ(texts(500, 1), texts(500, 1));
  EXPECT_NE(texts(500, 1), texts(500, 2));
  const std::vector<std::string> more = texts(700, 1);
  EXPECT_EQ(texts(500, 1), std::vector<std::string>(more.begin(), more.begin() + 500));
  EXPECT_TRUE(corpus(0, 1).empty());
  EXPECT_EQ(corpus(3, 1)[0].source, words(corpus_entries(3, 1)[0].source));
}

TEST(corpus, too_many_pairs_is_an_error_that_names_the_most) {
  const std::string most = std::to_string(corpus_size());
  const std::string message = message_of<ValueError>([] { corpus(corpus_size() + 1, 1); });
  EXPECT_TRUE(message.starts_with("[corpus] wanted from 0 to " + most + " pairs")) << message;
  EXPECT_THROW(corpus(-1, 1), ValueError);
}

TEST(corpus, a_file_of_it_reads_back_with_its_alignments) {
  const Scratch scratch;
  std::string bytes;
  for (const CorpusEntry& entry : corpus_entries(200, 7)) {
    bytes += entry.source + '\t' + entry.target + '\t' + format_alignment(entry.alignment) + '\n';
  }
  const LoadedPairs read = read_pairs(scratch.file(bytes));
  const std::vector<SentencePair> made = corpus(200, 7);
  ASSERT_EQ(read.pairs.size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read.pairs[i].source, made[i].source);
    EXPECT_EQ(read.pairs[i].target, made[i].target);
    EXPECT_EQ(read.pairs[i].alignment, made[i].alignment);
  }
}

}  // namespace
}  // namespace heed::translate
