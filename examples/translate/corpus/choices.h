#pragma once

#include <vector>

#include "translate/corpus/noun_phrase.h"

namespace heed::translate {

// What can fill the places of a sentence of the embedded corpus.

using NounPhrases = std::vector<NounPhrase>;
using Subjects = std::vector<Subject>;
using Phrases = std::vector<Phrase>;

/// Nouns with any of the features, after the, this and the possessives, in singular and plural. Family is
/// always someone's.
NounPhrases definite(Features features);

/// Nouns with any of the features after "a" and after numbers.
NounPhrases indefinite(Features features);

/// The same phrases with every adjective that suits them.
NounPhrases adorned(const NounPhrases& plain);

/// What a verb can have as its object, without adjectives; after a negation some choices would be odd or
/// rare.
NounPhrases objects_of(const Verb& verb, bool negated);

/// An object as it stands after its verb.
Phrase object_phrase(const Verb& verb, const NounPhrase& object, bool negated);

/// Noun phrases as subjects, all singular or all plural: definite, the definite with an adjective after
/// "the", and, when `any`, indefinite ones too.
Subjects subjects(Features features, bool plural, bool any);

/// Each pronoun by itself, then the singular and the plural noun phrases that can be the subject of such a
/// verb.
std::vector<Subjects> slots(Features features, bool any);

/// In the garden, behind my house, ...
Phrases places();

/// Whether a noun takes this adjective.
bool fits(const Adjective& adjective, const Noun& noun);

}  // namespace heed::translate
