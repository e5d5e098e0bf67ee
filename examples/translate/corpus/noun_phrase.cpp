#include "translate/corpus/noun_phrase.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace heed::translate {
namespace {

/// The forms of a French determiner; before a vowel a singular one may take another, as in "cet homme", "mon
/// école".
struct DeterminerForms {
  std::string_view masculine;
  std::string_view masculine_vowel;
  std::string_view feminine;
  std::string_view feminine_vowel;
  std::string_view plural;
};

std::string_view english_determiner(Determiner determiner, bool plural) {
  static constexpr std::array<std::string_view, 13> kWords = {
      "", "the", "a", "this", "my", "your", "his", "her", "our", "their", "two", "three", "four"};
  if (determiner == Determiner::kThis && plural) return "these";
  return kWords[static_cast<size_t>(determiner)];
}

const DeterminerForms& french_determiner(Determiner determiner) {
  static constexpr std::array<DeterminerForms, 13> kForms = {{
      {"des", "des", "des", "des", "des"},
      {"le", "le", "la", "la", "les"},
      {"un", "un", "une", "une", "des"},
      {"ce", "cet", "cette", "cette", "ces"},
      {"mon", "mon", "ma", "mon", "mes"},
      {"ton", "ton", "ta", "ton", "tes"},
      {"son", "son", "sa", "son", "ses"},
      {"son", "son", "sa", "son", "ses"},
      {"notre", "notre", "notre", "notre", "nos"},
      {"leur", "leur", "leur", "leur", "leurs"},
      {"deux", "deux", "deux", "deux", "deux"},
      {"trois", "trois", "trois", "trois", "trois"},
      {"quatre", "quatre", "quatre", "quatre", "quatre"},
  }};
  return kForms[static_cast<size_t>(determiner)];
}

/// The French determiner before `next`.
std::string_view determiner_before(std::string_view next, const NounPhrase& noun_phrase, Usage usage) {
  const Determiner determiner = noun_phrase.determiner;
  const bool indefinite = determiner == Determiner::kA || determiner == Determiner::kNone;
  if (indefinite && usage == Usage::kNegated) return "de";
  if (determiner == Determiner::kNone && usage == Usage::kGeneric) return "les";
  const DeterminerForms& forms = french_determiner(determiner);
  if (noun_phrase.plural) return forms.plural;
  const bool vowel = starts_with_vowel(next);
  if (noun_phrase.noun->gender == Gender::kMasculine) return vowel ? forms.masculine_vowel : forms.masculine;
  return vowel ? forms.feminine_vowel : forms.feminine;
}

std::string_view agreed(const Adjective& adjective, Gender gender, bool plural) {
  if (gender == Gender::kMasculine) return plural ? adjective.masculine_plural : adjective.masculine;
  return plural ? adjective.feminine_plural : adjective.feminine;
}

/// As it stands beside a noun: "un vieil homme", but "un homme heureux".
std::string_view attributed(const Adjective& adjective, const NounPhrase& noun_phrase) {
  const Noun& noun = *noun_phrase.noun;
  const bool melodious = adjective.before && !noun_phrase.plural && noun.gender == Gender::kMasculine &&
                         starts_with_vowel(noun.french);
  return melodious ? adjective.before_vowel : agreed(adjective, noun.gender, noun_phrase.plural);
}

Phrase english_side(const NounPhrase& noun_phrase) {
  Phrase phrase;
  const auto say = [&](std::string_view word) { phrase.english.emplace_back(word); };
  if (noun_phrase.determiner != Determiner::kNone) {
    say(english_determiner(noun_phrase.determiner, noun_phrase.plural));
  }
  if (noun_phrase.adjective) say(noun_phrase.adjective->english);
  say(noun_phrase.plural ? noun_phrase.noun->english_plural : noun_phrase.noun->english);
  const bool vowel = std::string_view("aeiou").find(phrase.english[1 % phrase.english.size()].front()) !=
                     std::string_view::npos;
  if (noun_phrase.determiner == Determiner::kA && vowel) phrase.english.front() = "an";
  return phrase;
}

Subject pronoun(std::string_view english, std::string_view french, Person person, Gender gender) {
  return {{{std::string(english)}, {{std::string(french), {0}}}}, person, gender};
}

}  // namespace

Phrase phrase_of(const NounPhrase& noun_phrase, Usage usage) {
  Phrase phrase = english_side(noun_phrase);
  const int noun_place = static_cast<int>(phrase.english.size()) - 1;
  const auto put = [&](std::string_view word, int place) {
    phrase.french.push_back({std::string(word), {place}});
  };
  put(noun_phrase.plural ? noun_phrase.noun->french_plural : noun_phrase.noun->french, noun_place);
  if (noun_phrase.adjective) {
    put(attributed(*noun_phrase.adjective, noun_phrase), noun_place - 1);
    if (noun_phrase.adjective->before) std::swap(phrase.french[0], phrase.french[1]);
  }
  const int determiner_place = noun_phrase.determiner == Determiner::kNone ? noun_place : 0;
  put(determiner_before(phrase.french.front().text, noun_phrase, usage), determiner_place);
  std::rotate(phrase.french.begin(), phrase.french.end() - 1, phrase.french.end());
  return phrase;
}

bool is_plural(Person person) { return person == Person::kWe || person == Person::kThirdPlural; }

std::span<const Subject> pronouns() {
  static const std::vector<Subject> kPronouns = {
      pronoun("I", "je", Person::kI, Gender::kMasculine),
      pronoun("you", "tu", Person::kYou, Gender::kMasculine),
      pronoun("he", "il", Person::kThird, Gender::kMasculine),
      pronoun("she", "elle", Person::kThird, Gender::kFeminine),
      pronoun("we", "nous", Person::kWe, Gender::kMasculine),
      pronoun("they", "ils", Person::kThirdPlural, Gender::kMasculine),
  };
  return kPronouns;
}

Subject subject_of(const NounPhrase& noun_phrase) {
  return {phrase_of(noun_phrase), noun_phrase.plural ? Person::kThirdPlural : Person::kThird,
          noun_phrase.noun->gender};
}

Phrase predicate(const Adjective& adjective, const Subject& subject, bool very) {
  const std::string french(agreed(adjective, subject.gender, is_plural(subject.person)));
  const std::string english(adjective.english);
  if (very) return {{"very", english}, {{"très", {0}}, {french, {1}}}};
  return {{english}, {{french, {0}}}};
}

}  // namespace heed::translate
