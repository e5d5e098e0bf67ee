#include "translate/corpus/selection.h"

#include <array>
#include <string>
#include <string_view>

#include "translate/corpus/choices.h"
#include "translate/corpus/corpus.h"
#include "translate/corpus/grammar.h"
#include "translate/data/shuffle.h"

namespace heed::translate {
namespace {

/// Which of the possible sentences are in the corpus is part of it, and so never changes.
constexpr uint64_t kSelectionSeed = 1;

using Sentenced = std::optional<CorpusEntry>;

/// A kind of sentence about a subject, with something after the verb.
using SubjectSentence = std::function<CorpusEntry(const Subject&, const Phrase&)>;

Phrase clitic(std::string_view english, std::string_view french) {
  return {{std::string(english)}, {{std::string(french), {0}}}};
}

Phrase every_day() { return {{"every", "day"}, {{"chaque", {0}}, {"jour", {1}}}}; }

Phrase yesterday() { return {{"yesterday"}, {{"hier", {0}}}}; }

Phrase tomorrow() { return {{"tomorrow"}, {{"demain", {0}}}}; }

bool is_noun_phrase(const Subjects& slot) { return slot.size() > 1; }

bool is_i(const Subjects& slot) { return slot.front().person == Person::kI; }

/// Such as in "the king sees the king", which nobody says.
bool same_noun(const Phrase& a, const Phrase& b) {
  return !b.english.empty() && a.english.back() == b.english.back();
}

void take_sentences(Selection& selection, const Subjects& slot, const Phrases& rests, size_t most,
                    const SubjectSentence& sentence) {
  selection.take(rests.size(), slot.size(), most, [&](size_t rest, size_t who) -> Sentenced {
    if (same_noun(slot[who].phrase, rests[rest])) return std::nullopt;
    return sentence(slot[who], rests[rest]);
  });
}

/// The kinds of sentences with a verb and what follows it.
struct Kind {
  SubjectSentence sentence;
  size_t share;  // how many of a cell are taken
  bool negated = false;
  bool about_i = true;
};

std::vector<Kind> present_kinds(const Verb& verb, bool with_never) {
  const auto say = [&verb](const Subject& who, const Phrase& rest) { return statement(who, verb, {rest}); };
  const auto ask = [&verb](const Subject& who, const Phrase& rest) { return question(who, verb, {rest}); };
  const auto deny = [&verb](const Subject& who, const Phrase& rest) {
    return negation(who, verb, {rest}, Negation::kNot);
  };
  const auto never = [&verb](const Subject& who, const Phrase& rest) {
    return negation(who, verb, {rest}, Negation::kNever);
  };
  std::vector<Kind> kinds = {{.sentence = say, .share = 14},
                             {.sentence = deny, .share = 12, .negated = true},
                             {.sentence = ask, .share = 10, .about_i = false}};
  if (with_never) kinds.push_back({.sentence = never, .share = 3, .negated = true});
  return kinds;
}

std::vector<Kind> past_kinds(const Verb& verb) {
  const auto did = [&verb](const Subject& who, const Phrase& rest) { return past(who, verb, rest); };
  const auto did_yesterday = [&verb](const Subject& who, const Phrase& rest) {
    return past(who, verb, rest + yesterday());
  };
  return {{.sentence = did, .share = 5}, {.sentence = did_yesterday, .share = 3}};
}

std::vector<Kind> modal_kinds(const Verb& verb) {
  std::vector<Kind> kinds;
  for (const Modal kind : {Modal::kCan, Modal::kWant, Modal::kGoing}) {
    const auto say = [&verb, kind](const Subject& who, const Phrase& rest) {
      return modal(who, kind, verb, rest);
    };
    kinds.push_back({.sentence = say, .share = 3});
  }
  const auto tomorrows = [&verb](const Subject& who, const Phrase& rest) {
    return modal(who, Modal::kGoing, verb, rest + tomorrow());
  };
  const auto ask = [&verb](const Subject& who, const Phrase& rest) { return can_question(who, verb, rest); };
  kinds.push_back({.sentence = tomorrows, .share = 2});
  kinds.push_back({.sentence = ask, .share = 4, .about_i = false});
  return kinds;
}

void append(std::vector<Kind>& kinds, const std::vector<Kind>& more) {
  kinds.insert(kinds.end(), more.begin(), more.end());
}

std::vector<Kind> all_kinds(const Verb& verb) {
  std::vector<Kind> kinds = present_kinds(verb, true);
  if (!verb.english_past.empty()) append(kinds, past_kinds(verb));
  if (verb.style == ObjectStyle::kAny) append(kinds, modal_kinds(verb));
  return kinds;
}

Phrases object_phrases(const Verb& verb, const NounPhrases& objects, bool negated) {
  Phrases out;
  for (const NounPhrase& object : objects) out.push_back(object_phrase(verb, object, negated));
  return out;
}

/// Objects as they stand after the verb, without and with adjectives.
std::array<Phrases, 2> objects(const Verb& verb, bool negated) {
  const NounPhrases plain = objects_of(verb, negated);
  return {object_phrases(verb, plain, negated), object_phrases(verb, adorned(plain), negated)};
}

/// Some of these kinds of sentences about each possible subject.
void take_kinds(Selection& selection, const Verb& verb, const std::vector<Kind>& kinds, const Phrases& rests,
                const Phrases& negated_rests) {
  const std::vector<Subjects> definite_slots = slots(verb.subjects, false);
  const std::vector<Subjects> all_slots = slots(verb.subjects, true);
  for (const Kind& kind : kinds) {
    for (const Subjects& slot : kind.negated || !kind.about_i ? definite_slots : all_slots) {
      if (is_i(slot) && !kind.about_i) continue;
      take_sentences(selection, slot, kind.negated ? negated_rests : rests, kind.share, kind.sentence);
    }
  }
}

void take_transitive(Selection& selection, const Verb& verb) {
  const std::vector<Kind> kinds = all_kinds(verb);
  const std::array positive = objects(verb, false);
  const std::array negative = objects(verb, true);
  for (size_t i = 0; i < positive.size(); ++i) take_kinds(selection, verb, kinds, positive[i], negative[i]);
}

void take_intransitive(Selection& selection, const Verb& verb) {
  Phrases rests = places();
  rests.emplace_back();
  std::vector<Kind> kinds = all_kinds(verb);
  // There are fewer such verbs, and what follows them comes in one list, not two.
  for (Kind& kind : kinds) kind.share *= 2;
  take_kinds(selection, verb, kinds, rests, rests);
  const Phrases days = {every_day()};
  take_kinds(selection, verb, present_kinds(verb, false), days, days);
}

/// He sees her. He does not see her. He never sees her. Does he see her?
void take_clitics(Selection& selection, const Verb& verb) {
  const Phrases clitics = {clitic("him", "le"), clitic("her", "la"), clitic("them", "les"),
                           clitic("us", "nous")};
  for (const Subjects& slot : slots(verb.subjects & kHuman, false)) {
    const Person person = slot.front().person;
    const bool reflexive = person == Person::kI || person == Person::kWe;  // "we see us"
    const size_t objects = clitics.size() - (reflexive ? 1 : 0);
    const size_t rounds = is_noun_phrase(slot) ? 5 : 1;
    const auto cell = [&](const auto& sentence) {
      selection.take(objects * rounds, slot.size(), objects * rounds,
                     [&](size_t object, size_t who) -> Sentenced {
                       return sentence(slot[who], Complement{clitics[object % objects], true});
                     });
    };
    cell([&](const Subject& who, const Complement& rest) { return statement(who, verb, rest); });
    for (const Negation kind : {Negation::kNot, Negation::kNever}) {
      cell([&](const Subject& who, const Complement& rest) { return negation(who, verb, rest, kind); });
    }
    if (is_i(slot)) continue;
    cell([&](const Subject& who, const Complement& rest) { return question(who, verb, rest); });
  }
}

/// Open the door! Do not open the door! Who opens the door?
void take_orders(Selection& selection, const Verb& verb) {
  const auto cells = [&](const std::array<Phrases, 2>& rests, size_t most, const auto& sentence) {
    for (const Phrases& list : rests) {
      selection.take(list.size(), 1, most,
                     [&](size_t rest, size_t) -> Sentenced { return sentence(verb, list[rest]); });
    }
  };
  cells(objects(verb, false), 12, who_question);
  const bool can_be_ordered = verb.style == ObjectStyle::kAny && verb.english != "see";
  if (!can_be_ordered) return;
  cells(objects(verb, false), 20, order);
  cells(objects(verb, true), 16, prohibition);
}

bool has_one_form(const Adjective& adjective) { return adjective.masculine == adjective.feminine; }

/// Whether a pronoun can be said to be so: the gender of "I", "you" and "we" is not known.
bool suits(const Adjective& adjective, const Subject& pronoun) {
  const bool third = pronoun.person == Person::kThird || pronoun.person == Person::kThirdPlural;
  return (adjective.fits & kHuman) != 0 && (third || has_one_form(adjective));
}

/// Subjects that can be said to be so.
Subjects described(const Adjective& adjective, bool plural) {
  Subjects out;
  for (const NounPhrase& phrase : definite(adjective.fits)) {
    if (phrase.plural == plural) out.push_back(subject_of(phrase));
  }
  return out;
}

/// What is said of `who`: with and without "very", as it is, denied and asked.
void take_predicates(Selection& selection, const Adjective& adjective, const Subjects& who, size_t most) {
  const auto cell = [&](bool very, const auto& sentence) {
    selection.take(who.size(), 1, most, [&](size_t one, size_t) -> Sentenced {
      return sentence(who[one], predicate(adjective, who[one], very));
    });
  };
  for (const bool very : {false, true}) {
    cell(very, [](const Subject& one, const Phrase& rest) { return statement(one, verb_be(), {rest}); });
    cell(very, be_negation);
    if (!is_i(who)) cell(very, be_question);
  }
}

void take_adjectives(Selection& selection) {
  for (const Adjective& adjective : adjectives()) {
    for (const bool plural : {false, true}) {
      take_predicates(selection, adjective, described(adjective, plural), 7);
    }
    for (const Subject& pronoun : pronouns()) {
      if (suits(adjective, pronoun)) take_predicates(selection, adjective, {pronoun}, 1);
    }
    for (const Noun& noun : nouns()) {
      const bool exclaimed = adjective.before && fits(adjective, noun) && (noun.features & kFamily) == 0;
      if (!exclaimed) continue;
      selection.take(1, 1, 1, [&](size_t, size_t) -> Sentenced { return what_a(noun, adjective); });
    }
  }
}

constexpr Features kMovable = kHuman | kAnimal | kPortable;

/// The dog is in the garden. The dog is not in the garden. Is the dog in the garden? Who is in the garden?
void take_locations(Selection& selection) {
  const Phrases where = places();
  for (const Subjects& slot : slots(kMovable, false)) {
    const size_t most = is_noun_phrase(slot) ? where.size() : 8;
    take_sentences(selection, slot, where, most,
                   [](const Subject& who, const Phrase& rest) { return statement(who, verb_be(), {rest}); });
    take_sentences(selection, slot, where, most, be_negation);
    if (!is_i(slot)) take_sentences(selection, slot, where, most, be_question);
  }
  selection.take(where.size(), 1, where.size(),
                 [&](size_t place, size_t) -> Sentenced { return who_question(verb_be(), where[place]); });
}

/// There is a dog in the garden. Where is my dog?
void take_existence(Selection& selection) {
  const Phrases where = places();
  const NounPhrases things = indefinite(kMovable & ~kHuman);
  const NounPhrases sought = definite(kMovable | kGoods | kPlace);
  selection.take(things.size() * where.size(), 1, 240, [&](size_t pair, size_t) -> Sentenced {
    return there_is(things[pair % things.size()], where[pair / things.size()]);
  });
  for (const NounPhrases& phrases : {sought, adorned(sought)}) {
    selection.take(phrases.size(), 1, 150,
                   [&](size_t what, size_t) -> Sentenced { return where_is(subject_of(phrases[what])); });
  }
}

}  // namespace

void Selection::take(size_t firsts, size_t seconds, size_t most, const Make& make) {
  const uint64_t stream = 2 * cell_++;
  const std::vector<int64_t> second = shuffled(static_cast<int64_t>(seconds), kSelectionSeed, stream + 1);
  size_t kept = 0;
  size_t tried = 0;
  for (const int64_t first : shuffled(static_cast<int64_t>(firsts), kSelectionSeed, stream)) {
    if (kept == most) return;
    std::optional<CorpusEntry> entry =
        make(static_cast<size_t>(first), static_cast<size_t>(second[tried++ % second.size()]));
    if (!entry) continue;
    // End marks are the last words, and aligned with each other.
    const auto& [source, target] = entry->alignment.back();
    if (source >= kCorpusLongest || target >= kCorpusLongest) continue;
    entries_.push_back(std::move(*entry));
    ++kept;
  }
}

std::vector<CorpusEntry> select_corpus() {
  Selection selection;
  for (const Verb& verb : transitive_verbs()) {
    take_transitive(selection, verb);
    take_orders(selection, verb);
    if ((verb.objects & kHuman) != 0) take_clitics(selection, verb);
  }
  for (const Verb& verb : intransitive_verbs()) take_intransitive(selection, verb);
  take_adjectives(selection);
  take_locations(selection);
  take_existence(selection);
  return std::move(selection).entries();
}

}  // namespace heed::translate
