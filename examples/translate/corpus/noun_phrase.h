#pragma once

#include <cstdint>
#include <span>

#include "translate/corpus/draft.h"
#include "translate/corpus/lexicon.h"

namespace heed::translate {

enum class Determiner : uint8_t {
  kNone,
  kThe,
  kA,
  kThis,
  kMy,
  kYour,
  kHis,
  kHer,
  kOur,
  kTheir,
  kTwo,
  kThree,
  kFour
};

/// How the French article of an indefinite object turns out: "un", "des" - after a negation "de", and where a
/// bare plural means the whole kind, "les".
enum class Usage : uint8_t { kPlain, kNegated, kGeneric };

struct NounPhrase {
  const Noun* noun;
  bool plural;
  Determiner determiner;
  const Adjective* adjective = nullptr;
};

/// The old man - le vieil homme.
Phrase phrase_of(const NounPhrase& noun_phrase, Usage usage = Usage::kPlain);

/// What a sentence is about, with all that verbs and adjectives agree with.
struct Subject {
  Phrase phrase;
  Person person;
  Gender gender;
};

/// I, you, he, she, we, they; "they" is "ils" throughout.
std::span<const Subject> pronouns();
Subject subject_of(const NounPhrase& noun_phrase);
bool is_plural(Person person);

/// old, very old - as it agrees with the subject.
Phrase predicate(const Adjective& adjective, const Subject& subject, bool very);

}  // namespace heed::translate
