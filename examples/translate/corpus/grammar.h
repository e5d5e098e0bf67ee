#pragma once

#include <cstdint>

#include "translate/corpus/draft.h"
#include "translate/corpus/lexicon.h"
#include "translate/corpus/noun_phrase.h"

namespace heed::translate {

// The rules of the embedded corpus: how a sentence is said in English and put in French, and which word
// answers to which. By the convention of the alignment every word of either side has a counterpart:
// - ne ... pas: "ne" has "do" and "not" (where there is no "do", "not" alone), "pas" has "not";
//   ne ... jamais: both have "never".
// - est-ce que: both have the auxiliary that opens the English question (do, can, is); "can" and "is" belong
// to
//   their French verb as well.
// - "to" belongs to the infinitive, "am going" to "vais", the past "saw" to both "ai" and "vu".
// - "des", "les" or "de" before a noun that has no determiner in English has that noun.
// - Expressions of several words (look for, in front of, près de, il y a) belong together whole; a word that
// is
//   elided or contracted has the counterparts of both its parts. "what a" is "quel".
// - The end marks have each other.

/// What follows the verb; a French object pronoun (le, la, les, nous) goes before it instead.
struct Complement {
  Phrase phrase;
  bool before_verb = false;
};

enum class Negation : uint8_t { kNot, kNever };
enum class Modal : uint8_t { kCan, kWant, kGoing };

/// He sees the dog. He is tired.
CorpusEntry statement(const Subject& subject, const Verb& verb, const Complement& rest);
/// He does not see the dog. He never sees the dog.
CorpusEntry negation(const Subject& subject, const Verb& verb, const Complement& rest, Negation kind);
/// Does he see the dog?
CorpusEntry question(const Subject& subject, const Verb& verb, const Complement& rest);
/// He saw the dog.
CorpusEntry past(const Subject& subject, const Verb& verb, const Phrase& rest);
/// He can see the dog. He wants to see the dog. He is going to see the dog.
CorpusEntry modal(const Subject& subject, Modal kind, const Verb& verb, const Phrase& rest);
/// Can he see the dog?
CorpusEntry can_question(const Subject& subject, const Verb& verb, const Phrase& rest);
/// Watch the dog!
CorpusEntry order(const Verb& verb, const Phrase& rest);
/// Do not watch the dog!
CorpusEntry prohibition(const Verb& verb, const Phrase& rest);
/// Who sees the dog? Who is in the garden?
CorpusEntry who_question(const Verb& verb, const Phrase& rest);

/// He is not tired.
CorpusEntry be_negation(const Subject& subject, const Phrase& rest);
/// Is he tired?
CorpusEntry be_question(const Subject& subject, const Phrase& rest);
/// Where is the dog?
CorpusEntry where_is(const Subject& subject);
/// There is a dog in the garden.
CorpusEntry there_is(const NounPhrase& what, const Phrase& where);
/// What a beautiful house!
CorpusEntry what_a(const Noun& noun, const Adjective& adjective);

}  // namespace heed::translate
