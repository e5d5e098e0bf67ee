#include "translate/eval/evaluation.h"

#include <algorithm>
#include <map>

#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

std::vector<Sentence> translations_of(Translator& translator, const std::vector<Question>& asked,
                                      int64_t beam) {
  std::vector<std::string> texts;
  texts.reserve(asked.size());
  for (const Question& question : asked) texts.push_back(joined(question.source));
  std::vector<Sentence> out;
  for (const Translation& translation : translator.translate(texts, {.beam = beam}))
    out.push_back(words(translation.text));
  return out;
}

double exact_match(const std::vector<Sentence>& translations, const std::vector<Question>& asked) {
  int64_t exact = 0;
  for (size_t i = 0; i < asked.size(); ++i)
    exact += std::ranges::count(asked[i].references, translations[i]) > 0 ? 1 : 0;
  return static_cast<double>(exact) / static_cast<double>(asked.size());
}

std::optional<BestHead> best_head(Translator& translator, const std::vector<SentencePair>& test,
                                  const std::vector<SentencePair>& validation) {
  const std::vector<RankedHead> ranked = rank_heads(translator, validation);
  const std::vector<RankedHead> tested = rank_heads(translator, test);
  if (ranked.empty() || tested.empty()) return std::nullopt;
  const RankedHead& chosen = ranked.front();
  return BestHead{
      .head = chosen.head,
      .error_rate = std::ranges::find(tested, chosen.head, &RankedHead::head)->counts.error_rate(),
      .lowest = best_single_links(translator, test).error_rate(),
      .chosen_with = chosen.counts.error_rate()};
}

}  // namespace

std::vector<Question> questions(const std::vector<SentencePair>& pairs) {
  std::vector<Question> asked;
  std::map<Sentence, size_t> places;
  for (const SentencePair& pair : pairs) {
    const auto [found, added] = places.try_emplace(pair.source, asked.size());
    if (added) asked.push_back({pair.source, {}});
    asked[found->second].references.push_back(pair.target);
  }
  return asked;
}

Evaluation evaluate(Translator& translator, const std::vector<SentencePair>& test,
                    const std::vector<SentencePair>& validation, int64_t beam) {
  if (test.empty()) raise<ValueError>("[evaluate] wanted pairs to score, came none");
  const std::vector<Question> asked = questions(test);
  const std::vector<Sentence> translations = translations_of(translator, asked, beam);
  std::vector<std::vector<Sentence>> references;
  references.reserve(asked.size());
  for (const Question& question : asked) references.push_back(question.references);
  return {.pairs = std::ssize(test),
          .sources = std::ssize(asked),
          .bleu = corpus_bleu(translations, references),
          .exact_match = exact_match(translations, asked),
          .predictions = predict(translator, test),
          .alignment = best_head(translator, test, validation)};
}

}  // namespace heed::translate
