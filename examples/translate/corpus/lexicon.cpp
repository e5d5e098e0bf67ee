#include "translate/corpus/lexicon.h"

namespace heed::translate {
namespace {

constexpr Gender kM = Gender::kMasculine;
constexpr Gender kF = Gender::kFeminine;

constexpr Features kColoured = kDark | kBright;
constexpr Features kThings = kGoods | kReadable | kFood | kOpening | kPlace;
constexpr Features kBeings = kHuman | kAnimal;

constexpr std::array kNouns = {
    Noun{"man", "men", "homme", "hommes", kM, kHuman | kAged},
    Noun{"woman", "women", "femme", "femmes", kF, kHuman | kAged | kFair},
    Noun{"boy", "boys", "garçon", "garçons", kM, kHuman},
    Noun{"girl", "girls", "fille", "filles", kF, kHuman},
    Noun{"child", "children", "enfant", "enfants", kM, kHuman | kFair | kOwnable},
    Noun{"king", "kings", "roi", "rois", kM, kHuman | kAged},
    Noun{"queen", "queens", "reine", "reines", kF, kHuman | kAged | kFair},
    Noun{"brother", "brothers", "frère", "frères", kM, kHuman | kFamily | kOwnable},
    Noun{"sister", "sisters", "sœur", "sœurs", kF, kHuman | kFamily | kOwnable},
    Noun{"dog", "dogs", "chien", "chiens", kM, kAnimal | kOwnable | kAged | kDark},
    Noun{"cat", "cats", "chat", "chats", kM, kAnimal | kOwnable | kAged | kDark},
    Noun{"horse", "horses", "cheval", "chevaux", kM, kAnimal | kOwnable | kAged | kFair | kDark},
    Noun{"bird", "birds", "oiseau", "oiseaux", kM, kAnimal | kOwnable | kFair | kColoured},
    Noun{"cow", "cows", "vache", "vaches", kF, kAnimal | kOwnable | kAged | kDark},
    Noun{"car", "cars", "voiture", "voitures", kF, kGoods | kOwnable | kAged | kFair | kColoured},
    Noun{"house", "houses", "maison", "maisons", kF, kGoods | kPlace | kOwnable | kAged | kFair | kBright},
    Noun{"hat", "hats", "chapeau", "chapeaux", kM, kGoods | kPortable | kOwnable | kAged | kFair | kColoured},
    Noun{"key", "keys", "clé", "clés", kF, kGoods | kPortable | kOwnable | kAged},
    Noun{"book", "books", "livre", "livres", kM,
         kGoods | kReadable | kPortable | kOwnable | kAged | kColoured},
    Noun{"letter", "letters", "lettre", "lettres", kF, kReadable | kPortable | kOwnable | kAged | kFair},
    Noun{"apple", "apples", "pomme", "pommes", kF, kGoods | kFood | kPortable | kOwnable | kBright},
    Noun{"orange", "oranges", "orange", "oranges", kF, kGoods | kFood | kPortable | kOwnable | kFair},
    Noun{"cake", "cakes", "gâteau", "gâteaux", kM, kGoods | kFood | kPortable | kOwnable | kFair},
    Noun{"door", "doors", "porte", "portes", kF, kOpening | kOwnable | kAged | kColoured},
    Noun{"window", "windows", "fenêtre", "fenêtres", kF, kOpening | kOwnable | kAged | kColoured},
    Noun{"garden", "gardens", "jardin", "jardins", kM, kPlace | kOwnable | kAged | kFair},
    Noun{"school", "schools", "école", "écoles", kF, kPlace | kOwnable | kAged},
    Noun{"church", "churches", "église", "églises", kF, kPlace | kAged | kFair},
    Noun{"tree", "trees", "arbre", "arbres", kM, kPlace | kOwnable | kAged | kFair},
};

constexpr std::array kAdjectives = {
    Adjective{"small", "petit", "petit", "petite", "petits", "petites", true, kBeings | kThings},
    Adjective{"old", "vieux", "vieil", "vieille", "vieux", "vieilles", true, kAged},
    Adjective{"young", "jeune", "jeune", "jeune", "jeunes", "jeunes", true, kBeings},
    Adjective{"beautiful", "beau", "bel", "belle", "beaux", "belles", true, kFair},
    Adjective{"red", "rouge", "rouge", "rouge", "rouges", "rouges", false, kBright},
    Adjective{"green", "vert", "vert", "verte", "verts", "vertes", false, kBright},
    Adjective{"black", "noir", "noir", "noire", "noirs", "noires", false, kDark},
    Adjective{"white", "blanc", "blanc", "blanche", "blancs", "blanches", false, kDark},
    Adjective{"sad", "triste", "triste", "triste", "tristes", "tristes", false, kHuman},
    Adjective{"rich", "riche", "riche", "riche", "riches", "riches", false, kHuman},
    Adjective{"happy", "heureux", "heureux", "heureuse", "heureux", "heureuses", false, kHuman},
    Adjective{"sick", "malade", "malade", "malade", "malades", "malades", false, kBeings},
    Adjective{"tired", "fatigué", "fatigué", "fatiguée", "fatigués", "fatiguées", false, kBeings},
};

constexpr Features kFindable = kBeings | kGoods | kReadable;
constexpr Features kTradable = kAnimal | kGoods;
constexpr Features kHad = kFamily | kAnimal | kGoods;

// Two lines for each verb.
// clang-format off
constexpr std::array kTransitiveVerbs = {
    Verb{"see", "sees", "saw", "", "voir", "vu",
         {"vois", "vois", "voit", "voyons", "voient"}, kBeings, kFindable | kPlace},
    Verb{"love", "loves", "", "", "aimer", "aimé",
         {"aime", "aimes", "aime", "aimons", "aiment"}, kHuman, kBeings | kFood, ObjectStyle::kDefinite},
    Verb{"look", "looks", "looked", "for", "chercher", "cherché",
         {"cherche", "cherches", "cherche", "cherchons", "cherchent"}, kBeings, kFindable},
    Verb{"watch", "watches", "watched", "", "regarder", "regardé",
         {"regarde", "regardes", "regarde", "regardons", "regardent"}, kBeings, kBeings},
    Verb{"help", "helps", "helped", "", "aider", "aidé",
         {"aide", "aides", "aide", "aidons", "aident"}, kHuman, kHuman},
    Verb{"buy", "buys", "bought", "", "acheter", "acheté",
         {"achète", "achètes", "achète", "achetons", "achètent"}, kHuman, kTradable},
    Verb{"sell", "sells", "sold", "", "vendre", "vendu",
         {"vends", "vends", "vend", "vendons", "vendent"}, kHuman, kTradable},
    Verb{"eat", "eats", "ate", "", "manger", "mangé",
         {"mange", "manges", "mange", "mangeons", "mangent"}, kBeings, kFood},
    Verb{"read", "reads", "", "", "lire", "lu",
         {"lis", "lis", "lit", "lisons", "lisent"}, kHuman, kReadable},
    Verb{"open", "opens", "opened", "", "ouvrir", "ouvert",
         {"ouvre", "ouvres", "ouvre", "ouvrons", "ouvrent"}, kHuman, kOpening | kReadable},
    Verb{"close", "closes", "closed", "", "fermer", "fermé",
         {"ferme", "fermes", "ferme", "fermons", "ferment"}, kHuman, kOpening},
    Verb{"have", "has", "", "", "avoir", "eu",
         {"ai", "as", "a", "avons", "ont"}, kHuman, kHad, ObjectStyle::kOwned},
};

constexpr std::array kIntransitiveVerbs = {
    Verb{"sleep", "sleeps", "slept", "", "dormir", "dormi",
         {"dors", "dors", "dort", "dormons", "dorment"}, kBeings, 0},
    Verb{"run", "runs", "ran", "", "courir", "couru",
         {"cours", "cours", "court", "courons", "courent"}, kBeings, 0},
    Verb{"sing", "sings", "sang", "", "chanter", "chanté",
         {"chante", "chantes", "chante", "chantons", "chantent"}, kHuman, 0},
    Verb{"work", "works", "worked", "", "travailler", "travaillé",
         {"travaille", "travailles", "travaille", "travaillons", "travaillent"}, kHuman, 0},
};
// clang-format on

constexpr Verb kBe = {"are",   "is", "", "", "être", "été", {"suis", "es", "est", "sommes", "sont"},
                      kBeings, 0};

}  // namespace

std::span<const Noun> nouns() { return kNouns; }

std::span<const Adjective> adjectives() { return kAdjectives; }

std::span<const Verb> transitive_verbs() { return kTransitiveVerbs; }

std::span<const Verb> intransitive_verbs() { return kIntransitiveVerbs; }

const Verb& verb_be() { return kBe; }

}  // namespace heed::translate
