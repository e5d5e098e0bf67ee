#include "translate/eval/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

using NGram = std::span<const std::string>;

struct InOrder {
  bool operator()(NGram a, NGram b) const { return std::ranges::lexicographical_compare(a, b); }
};

using Counts = std::map<NGram, int64_t, InOrder>;

Counts count_n_grams(const Sentence& sentence, size_t order) {
  Counts counts;
  for (size_t i = 0; i + order <= sentence.size(); ++i) ++counts[NGram(sentence).subspan(i, order)];
  return counts;
}

/// How often the references have each n-gram: as often as the one that has it most often.
Counts most_in_one(const std::vector<Sentence>& references, size_t order) {
  Counts most;
  for (const Sentence& reference : references) {
    for (const auto& [n_gram, count] : count_n_grams(reference, order)) {
      int64_t& kept = most[n_gram];
      kept = std::max(kept, count);
    }
  }
  return most;
}

void add_order(Bleu& bleu, const Sentence& hypothesis, const std::vector<Sentence>& references,
               size_t order) {
  const Counts wanted = most_in_one(references, order);
  for (const auto& [n_gram, count] : count_n_grams(hypothesis, order)) {
    const auto found = wanted.find(n_gram);
    if (found != wanted.end()) bleu.matches[order - 1] += std::min(count, found->second);
    bleu.n_grams[order - 1] += count;
  }
}

int64_t closest_length(const std::vector<Sentence>& references, int64_t length) {
  const auto distance = [&](const Sentence& reference) {
    const int64_t words = std::ssize(reference);
    return std::pair(std::abs(words - length), words);
  };
  return std::ssize(*std::ranges::min_element(references, {}, distance));
}

double brevity_penalty(const Bleu& bleu) {
  if (bleu.hypothesis_length == 0) return bleu.reference_length == 0 ? 1 : 0;
  const double ratio =
      static_cast<double>(bleu.reference_length) / static_cast<double>(bleu.hypothesis_length);
  return std::exp(std::min(0.0, 1 - ratio));
}

/// Zero when an order has no match, and so when it has no n-gram.
double mean_precision(const Bleu& bleu) {
  double log_sum = 0;
  for (size_t i = 0; i < bleu.matches.size(); ++i) {
    if (bleu.matches[i] == 0) return 0;
    log_sum += std::log(static_cast<double>(bleu.matches[i]) / static_cast<double>(bleu.n_grams[i]));
  }
  return std::exp(log_sum / static_cast<double>(bleu.matches.size()));
}

void check(std::span<const Sentence> hypotheses, std::span<const std::vector<Sentence>> references,
           int64_t max_order) {
  if (max_order < 1)
    raise<ValueError>("[corpus_bleu] wanted a maximal order of 1 or more, came {}", max_order);
  if (hypotheses.size() != references.size())
    raise<ValueError>(
        "[corpus_bleu] wanted references for each hypothesis, came {} hypotheses and {} lists of "
        "references",
        hypotheses.size(), references.size());
  const auto empty = std::ranges::find_if(references, [](const auto& list) { return list.empty(); });
  if (empty != references.end())
    raise<ValueError>("[corpus_bleu] wanted a reference or more for each hypothesis, came none for number {}",
                      empty - references.begin());
}

}  // namespace

Bleu corpus_bleu(std::span<const Sentence> hypotheses, std::span<const std::vector<Sentence>> references,
                 int64_t max_order) {
  check(hypotheses, references, max_order);
  const auto orders = static_cast<size_t>(max_order);
  Bleu bleu;
  bleu.matches.resize(orders);
  bleu.n_grams.resize(orders);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const int64_t length = std::ssize(hypotheses[i]);
    bleu.hypothesis_length += length;
    bleu.reference_length += closest_length(references[i], length);
    for (size_t order = 1; order <= orders; ++order) add_order(bleu, hypotheses[i], references[i], order);
  }
  bleu.brevity_penalty = brevity_penalty(bleu);
  bleu.score = bleu.brevity_penalty * mean_precision(bleu);
  return bleu;
}

}  // namespace heed::translate
