#include "translate/corpus/choices.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

namespace heed::translate {
namespace {

constexpr std::array kPossessives = {Determiner::kMy,  Determiner::kYour, Determiner::kHis,
                                     Determiner::kHer, Determiner::kOur,  Determiner::kTheir};
constexpr std::array kNumbers = {Determiner::kTwo, Determiner::kThree, Determiner::kFour};

bool has(const Noun& noun, Features features) { return (noun.features & features) != 0; }

bool is_number(Determiner determiner) {
  return std::find(kNumbers.begin(), kNumbers.end(), determiner) != kNumbers.end();
}

void append(NounPhrases& phrases, const NounPhrases& more) {
  phrases.insert(phrases.end(), more.begin(), more.end());
}

/// The phrases for which `keep` holds.
template <class Keep>
NounPhrases filtered(const NounPhrases& phrases, const Keep& keep) {
  NounPhrases out;
  std::copy_if(phrases.begin(), phrases.end(), std::back_inserter(out), keep);
  return out;
}

/// Bare plurals: "horses". Not of people: "I look for women" has a ring of its own.
NounPhrases bare(Features features) {
  NounPhrases out;
  for (const Noun& noun : nouns()) {
    if (has(noun, features) && !has(noun, kHuman)) out.push_back({&noun, true, Determiner::kNone});
  }
  return out;
}

NounPhrases objects_of_style(const Verb& verb) {
  NounPhrases out = bare(verb.objects);
  const auto is_family = [](const NounPhrase& phrase) { return has(*phrase.noun, kFamily); };
  if (verb.style == ObjectStyle::kOwned) {
    append(out, indefinite(verb.objects));
    append(out, filtered(definite(verb.objects),
                         [](const NounPhrase& phrase) { return phrase.determiner == Determiner::kThe; }));
    return out;
  }
  append(out, definite(verb.objects));
  if (verb.style == ObjectStyle::kAny) {
    append(out,
           filtered(indefinite(verb.objects), [&](const NounPhrase& phrase) { return !is_family(phrase); }));
  }
  return out;
}

/// "I do not see two dogs" has more than one meaning, and forms such as "d'homme" and "d'oranges" would each
/// be too rare to learn: of the elided ones there is only "d'oiseau".
bool is_plain_when_negated(const NounPhrase& phrase) {
  if (is_number(phrase.determiner)) return false;
  const bool indefinite = phrase.determiner == Determiner::kA || phrase.determiner == Determiner::kNone;
  const bool elided = starts_with_vowel(phrase.noun->french);
  return !indefinite || !elided || (!phrase.plural && has(*phrase.noun, kAnimal));
}

/// A preposition with nouns that suit it.
struct Location {
  Phrase preposition;
  std::vector<std::string_view> nouns;
};

const std::vector<Location>& locations() {
  static const std::vector<Location> kLocations = {
      {{{"in"}, {{"dans", {0}}}}, {"garden", "house", "school", "church", "car"}},
      {{{"under"}, {{"sous", {0}}}}, {"tree"}},
      {{{"behind"}, {{"derrière", {0}}}}, {"house", "school", "church", "tree", "car", "door"}},
      {{{"in", "front", "of"}, {{"devant", {0, 1, 2}}}}, {"house", "school", "church", "tree", "door"}},
      {{{"near"}, {{"près", {0}}, {"de", {0}}}},
       {"garden", "house", "school", "church", "tree", "car", "window"}},
  };
  return kLocations;
}

const Noun& noun_of(std::string_view english) {
  return *std::find_if(nouns().begin(), nouns().end(),
                       [&](const Noun& noun) { return noun.english == english; });
}

}  // namespace

bool fits(const Adjective& adjective, const Noun& noun) { return has(noun, adjective.fits); }

NounPhrases definite(Features features) {
  NounPhrases out;
  for (const Noun& noun : nouns()) {
    if (!has(noun, features)) continue;
    for (const bool plural : {false, true}) {
      if (!has(noun, kFamily)) {
        out.push_back({&noun, plural, Determiner::kThe});
        out.push_back({&noun, plural, Determiner::kThis});
      }
      if (!has(noun, kOwnable)) continue;
      for (const Determiner whose : kPossessives) out.push_back({&noun, plural, whose});
    }
  }
  return out;
}

NounPhrases indefinite(Features features) {
  NounPhrases out;
  for (const Noun& noun : nouns()) {
    if (!has(noun, features)) continue;
    out.push_back({&noun, false, Determiner::kA});
    for (const Determiner number : kNumbers) out.push_back({&noun, true, number});
  }
  return out;
}

NounPhrases adorned(const NounPhrases& plain) {
  NounPhrases out;
  for (const NounPhrase& phrase : plain) {
    if (has(*phrase.noun, kFamily)) continue;
    for (const Adjective& adjective : adjectives()) {
      // Good French would turn "des" into "de" before an adjective.
      const bool awkward = phrase.determiner == Determiner::kNone && adjective.before;
      if (fits(adjective, *phrase.noun) && !awkward) {
        out.push_back({phrase.noun, phrase.plural, phrase.determiner, &adjective});
      }
    }
  }
  return out;
}

NounPhrases objects_of(const Verb& verb, bool negated) {
  const NounPhrases all = objects_of_style(verb);
  return negated && verb.style != ObjectStyle::kDefinite ? filtered(all, is_plain_when_negated) : all;
}

Phrase object_phrase(const Verb& verb, const NounPhrase& object, bool negated) {
  if (verb.style == ObjectStyle::kDefinite) return phrase_of(object, Usage::kGeneric);
  return phrase_of(object, negated ? Usage::kNegated : Usage::kPlain);
}

Subjects subjects(Features features, bool plural, bool any) {
  NounPhrases phrases = definite(features);
  append(phrases, adorned(filtered(phrases, [](const NounPhrase& phrase) {
           return phrase.determiner == Determiner::kThe;
         })));
  if (any) append(phrases, indefinite(features & ~kHuman));
  Subjects out;
  for (const NounPhrase& phrase : phrases) {
    if (phrase.plural == plural) out.push_back(subject_of(phrase));
  }
  return out;
}

std::vector<Subjects> slots(Features features, bool any) {
  std::vector<Subjects> out;
  for (const Subject& pronoun : pronouns()) out.push_back({pronoun});
  out.push_back(subjects(features, false, any));
  out.push_back(subjects(features, true, any));
  return out;
}

Phrases places() {
  Phrases out;
  for (const Location& location : locations()) {
    for (const std::string_view english : location.nouns) {
      const Noun& noun = noun_of(english);
      for (const Determiner determiner :
           {Determiner::kThe, Determiner::kMy, Determiner::kYour, Determiner::kTheir}) {
        const bool allowed = determiner == Determiner::kThe || has(noun, kOwnable);
        if (allowed) out.push_back(location.preposition + phrase_of({&noun, false, determiner}));
      }
    }
  }
  return out;
}

}  // namespace heed::translate
