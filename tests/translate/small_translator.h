#pragma once

#include <heed/tensor/random.h>

#include "translate/data/batches.h"
#include "translate/translator.h"

namespace heed::translate {

/// Pairs of a language in which each word has one translation: three subjects by three verbs.
inline std::vector<SentencePair> small_pairs() {
  std::vector<SentencePair> pairs;
  for (const auto& [subject, sujet] :
       std::vector<std::pair<std::string, std::string>>{{"i", "je"}, {"you", "tu"}, {"we", "nous"}})
    for (const auto& [verb, verbe] : std::vector<std::pair<std::string, std::string>>{
             {"run", "cours"}, {"eat", "mange"}, {"sleep", "dors"}})
      pairs.push_back({{subject, verb, "."}, {sujet, verbe, "."}, {}});
  return pairs;
}

/// An untrained translator of it, the same for the same seed.
inline Translator small_translator(ModelKind kind, uint64_t seed = 1, double dropout = 0.1) {
  manual_seed(seed);
  const Architecture architecture{.kind = kind,
                                  .width = 16,
                                  .feed_forward = 24,
                                  .heads = 2,
                                  .layers = 2,
                                  .length = 8,
                                  .dropout = dropout,
                                  .score = usual_score(kind)};
  return {architecture, Vocabulary(sources(small_pairs()), 1), Vocabulary(targets(small_pairs()), 1)};
}

inline std::vector<Encoded> small_examples(const Translator& translator) {
  return encode_pairs(small_pairs(), translator.source(), translator.target(),
                      translator.architecture().length);
}

}  // namespace heed::translate
