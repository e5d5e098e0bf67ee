#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace heed::translate {

/// What a noun can take part in; a noun has several, added up.
using Features = uint32_t;
inline constexpr Features kHuman = 1 << 0;
inline constexpr Features kFamily = 1 << 1;  // someone's by nature: always with a possessive
inline constexpr Features kAnimal = 1 << 2;
inline constexpr Features kGoods = 1 << 3;  // can be bought and sold
inline constexpr Features kReadable = 1 << 4;
inline constexpr Features kFood = 1 << 5;
inline constexpr Features kOpening = 1 << 6;  // can be opened and closed
inline constexpr Features kPlace = 1 << 7;
inline constexpr Features kPortable = 1 << 8;  // can lie about somewhere
inline constexpr Features kOwnable = 1 << 9;   // can take a possessive
inline constexpr Features kAged = 1 << 10;     // can be old
inline constexpr Features kFair = 1 << 11;     // can be beautiful
inline constexpr Features kDark = 1 << 12;     // can be black or white
inline constexpr Features kBright = 1 << 13;   // can be red or green

enum class Gender : uint8_t { kMasculine, kFeminine };

struct Noun {
  std::string_view english;
  std::string_view english_plural;
  std::string_view french;
  std::string_view french_plural;
  Gender gender;
  Features features;
};

/// Agrees with its noun in French; `before` tells on which side of the noun it stands there.
struct Adjective {
  std::string_view english;
  std::string_view masculine;
  std::string_view before_vowel;  // masculine singular, as in "vieil homme"
  std::string_view feminine;
  std::string_view masculine_plural;
  std::string_view feminine_plural;
  bool before;
  Features fits;
};

/// The grammatical persons that the corpus uses: "you" is "tu" throughout.
enum class Person : uint8_t { kI, kYou, kThird, kWe, kThirdPlural };

/// French forms of the present tense, by Person.
using PresentForms = std::array<std::string_view, 5>;

/// Which determiners the object of a verb goes with.
enum class ObjectStyle : uint8_t {
  kAny,
  kDefinite,  // no "a", no numbers; a bare plural is generic: "loves horses", "aime les chevaux"
  kOwned,     // "a", "the" and numbers, no possessives: what one has is one's own
};

/// No past form: the past tense is not used, being ambiguous ("they read") or unusual.
struct Verb {
  std::string_view english;
  std::string_view english_third;
  std::string_view english_past;
  std::string_view particle;  // "for" in "look for"
  std::string_view infinitive;
  std::string_view participle;
  PresentForms present;
  Features subjects;
  Features objects;
  ObjectStyle style = ObjectStyle::kAny;

  /// What one says to a "tu": like the first person, for all verbs here.
  std::string_view imperative() const { return present.front(); }
};

std::span<const Noun> nouns();
std::span<const Adjective> adjectives();
std::span<const Verb> transitive_verbs();
std::span<const Verb> intransitive_verbs();

/// "to be", whose English forms are for the grammar to know.
const Verb& verb_be();

}  // namespace heed::translate
