#include "translate/corpus/grammar.h"

#include <string>
#include <vector>

namespace heed::translate {
namespace {

std::string_view form_of(const PresentForms& forms, Person person) {
  return forms[static_cast<size_t>(person)];
}

std::string_view english_be(Person person) {
  if (person == Person::kI) return "am";
  return person == Person::kThird ? "is" : "are";
}

std::string_view english_do(Person person) { return person == Person::kThird ? "does" : "do"; }

std::string_view english_present(const Verb& verb, Person person) {
  if (&verb == &verb_be()) return english_be(person);
  return person == Person::kThird ? verb.english_third : verb.english;
}

/// Says the verb with its particle, if it has one; returns their places.
std::vector<int> say_verb(Draft& draft, std::string_view form, const Verb& verb) {
  std::vector<int> places = {draft.say(form)};
  if (!verb.particle.empty()) places.push_back(draft.say(verb.particle));
  return places;
}

void put_question(Draft& draft, int auxiliary) {
  draft.put("est-ce", {auxiliary});
  draft.put("que", {auxiliary});
}

void put_before_verb(Draft& draft, const Complement& rest, int place) {
  if (rest.before_verb) draft.put(rest.phrase, place);
}

void put_after_verb(Draft& draft, const Complement& rest, int place) {
  if (!rest.before_verb) draft.put(rest.phrase, place);
}

std::string_view french_modal(Modal kind, Person person) {
  static constexpr PresentForms kPouvoir = {"peux", "peux", "peut", "pouvons", "peuvent"};
  static constexpr PresentForms kVouloir = {"veux", "veux", "veut", "voulons", "veulent"};
  static constexpr PresentForms kAller = {"vais", "vas", "va", "allons", "vont"};
  if (kind == Modal::kCan) return form_of(kPouvoir, person);
  return form_of(kind == Modal::kWant ? kVouloir : kAller, person);
}

/// Says the modal verb; returns its places.
std::vector<int> say_modal(Draft& draft, Modal kind, Person person) {
  if (kind == Modal::kCan) return {draft.say("can")};
  if (kind == Modal::kWant) return {draft.say(person == Person::kThird ? "wants" : "want")};
  const int be = draft.say(english_be(person));
  return {be, draft.say("going")};
}

}  // namespace

CorpusEntry statement(const Subject& subject, const Verb& verb, const Complement& rest) {
  Draft draft;
  const int who = draft.say(subject.phrase);
  const std::vector<int> does = say_verb(draft, english_present(verb, subject.person), verb);
  const int place = draft.say(rest.phrase);
  draft.put(subject.phrase, who);
  put_before_verb(draft, rest, place);
  draft.put(form_of(verb.present, subject.person), does);
  put_after_verb(draft, rest, place);
  return draft.finish('.');
}

CorpusEntry negation(const Subject& subject, const Verb& verb, const Complement& rest, Negation kind) {
  Draft draft;
  const bool never = kind == Negation::kNever;
  const int who = draft.say(subject.phrase);
  std::vector<int> ne;
  if (!never) ne.push_back(draft.say(english_do(subject.person)));
  const int no = draft.say(never ? "never" : "not");
  ne.push_back(no);
  const std::vector<int> does =
      say_verb(draft, never ? english_present(verb, subject.person) : verb.english, verb);
  const int place = draft.say(rest.phrase);
  draft.put(subject.phrase, who);
  draft.put("ne", ne);
  put_before_verb(draft, rest, place);
  draft.put(form_of(verb.present, subject.person), does);
  draft.put(never ? "jamais" : "pas", {no});
  put_after_verb(draft, rest, place);
  return draft.finish('.');
}

CorpusEntry question(const Subject& subject, const Verb& verb, const Complement& rest) {
  Draft draft;
  const int auxiliary = draft.say(english_do(subject.person));
  const int who = draft.say(subject.phrase);
  const std::vector<int> does = say_verb(draft, verb.english, verb);
  const int place = draft.say(rest.phrase);
  put_question(draft, auxiliary);
  draft.put(subject.phrase, who);
  put_before_verb(draft, rest, place);
  draft.put(form_of(verb.present, subject.person), does);
  put_after_verb(draft, rest, place);
  return draft.finish('?');
}

CorpusEntry past(const Subject& subject, const Verb& verb, const Phrase& rest) {
  static constexpr PresentForms kAvoir = {"ai", "as", "a", "avons", "ont"};
  Draft draft;
  const int who = draft.say(subject.phrase);
  const std::vector<int> did = say_verb(draft, verb.english_past, verb);
  const int place = draft.say(rest);
  draft.put(subject.phrase, who);
  draft.put(form_of(kAvoir, subject.person), {did.front()});
  draft.put(verb.participle, did);
  draft.put(rest, place);
  return draft.finish('.');
}

CorpusEntry modal(const Subject& subject, Modal kind, const Verb& verb, const Phrase& rest) {
  Draft draft;
  const int who = draft.say(subject.phrase);
  const std::vector<int> modal_places = say_modal(draft, kind, subject.person);
  std::vector<int> infinitive;
  if (kind != Modal::kCan) infinitive.push_back(draft.say("to"));
  for (const int place : say_verb(draft, verb.english, verb)) infinitive.push_back(place);
  const int place = draft.say(rest);
  draft.put(subject.phrase, who);
  draft.put(french_modal(kind, subject.person), modal_places);
  draft.put(verb.infinitive, infinitive);
  draft.put(rest, place);
  return draft.finish('.');
}

CorpusEntry can_question(const Subject& subject, const Verb& verb, const Phrase& rest) {
  Draft draft;
  const int can = draft.say("can");
  const int who = draft.say(subject.phrase);
  const std::vector<int> infinitive = say_verb(draft, verb.english, verb);
  const int place = draft.say(rest);
  put_question(draft, can);
  draft.put(subject.phrase, who);
  draft.put(french_modal(Modal::kCan, subject.person), {can});
  draft.put(verb.infinitive, infinitive);
  draft.put(rest, place);
  return draft.finish('?');
}

CorpusEntry order(const Verb& verb, const Phrase& rest) {
  Draft draft;
  const std::vector<int> does = say_verb(draft, verb.english, verb);
  const int place = draft.say(rest);
  draft.put(verb.imperative(), does);
  draft.put(rest, place);
  return draft.finish('!');
}

CorpusEntry prohibition(const Verb& verb, const Phrase& rest) {
  Draft draft;
  const int auxiliary = draft.say("do");
  const int no = draft.say("not");
  const std::vector<int> does = say_verb(draft, verb.english, verb);
  const int place = draft.say(rest);
  draft.put("ne", {auxiliary, no});
  draft.put(verb.imperative(), does);
  draft.put("pas", {no});
  draft.put(rest, place);
  return draft.finish('!');
}

CorpusEntry who_question(const Verb& verb, const Phrase& rest) {
  Draft draft;
  const int who = draft.say("who");
  const std::vector<int> does = say_verb(draft, verb.english_third, verb);
  const int place = draft.say(rest);
  draft.put("qui", {who});
  draft.put(form_of(verb.present, Person::kThird), does);
  draft.put(rest, place);
  return draft.finish('?');
}

CorpusEntry be_negation(const Subject& subject, const Phrase& rest) {
  Draft draft;
  const int who = draft.say(subject.phrase);
  const int be = draft.say(english_be(subject.person));
  const int no = draft.say("not");
  const int place = draft.say(rest);
  draft.put(subject.phrase, who);
  draft.put("ne", {no});
  draft.put(form_of(verb_be().present, subject.person), {be});
  draft.put("pas", {no});
  draft.put(rest, place);
  return draft.finish('.');
}

CorpusEntry be_question(const Subject& subject, const Phrase& rest) {
  Draft draft;
  const int be = draft.say(english_be(subject.person));
  const int who = draft.say(subject.phrase);
  const int place = draft.say(rest);
  put_question(draft, be);
  draft.put(subject.phrase, who);
  draft.put(form_of(verb_be().present, subject.person), {be});
  draft.put(rest, place);
  return draft.finish('?');
}

CorpusEntry where_is(const Subject& subject) {
  Draft draft;
  const int where = draft.say("where");
  const int be = draft.say(english_be(subject.person));
  const int who = draft.say(subject.phrase);
  draft.put("où", {where});
  draft.put(form_of(verb_be().present, subject.person), {be});
  draft.put(subject.phrase, who);
  return draft.finish('?');
}

CorpusEntry there_is(const NounPhrase& what, const Phrase& where) {
  Draft draft;
  const int there = draft.say("there");
  const int be = draft.say(what.plural ? "are" : "is");
  const Phrase phrase = phrase_of(what);
  const int subject = draft.say(phrase);
  const int place = draft.say(where);
  for (const std::string_view word : {"il", "y", "a"}) draft.put(word, {there, be});
  draft.put(phrase, subject);
  draft.put(where, place);
  return draft.finish('.');
}

CorpusEntry what_a(const Noun& noun, const Adjective& adjective) {
  Phrase phrase = phrase_of({&noun, false, Determiner::kA, &adjective});
  Draft draft;
  const int what = draft.say("what");
  const int place = draft.say(phrase);
  phrase.french.front().text = noun.gender == Gender::kMasculine ? "quel" : "quelle";
  phrase.french.front().english.push_back(what - place);
  draft.put(phrase, place);
  return draft.finish('!');
}

}  // namespace heed::translate
