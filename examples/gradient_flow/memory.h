#pragma once

#include "gradient_flow/findings.h"
#include "translate/data/tasks.h"

/// What attention does for a recurrent encoder-decoder: how much gradient reaches a word that was read long
/// before the end, and how well long sentences come out. Cho et al., "On the properties of neural machine
/// translation: encoder-decoder approaches" (2014); Bahdanau, Cho, Bengio (2014).
namespace heed::gradient_flow {

struct MemoryOptions {
  translate::Task task = translate::Task::kCopy;
  int64_t longest = 16;  ///< letters of a sentence
  int64_t width = 64;
  int64_t steps = 600;      ///< of training, on 64 sentences each
  int64_t sentences = 400;  ///< that are kept out, to translate
  uint64_t seed = 0;
};

/// One of the two models.
struct MemoryCurves {
  /// By distance from the source's end, 0 for the last letter: |gradient| of the loss to the embedded letter,
  /// over sentences of the greatest length.
  std::vector<double> before, after;  ///< training
  std::vector<double> bleu;           ///< of each range of lengths, in [0, 1]; NaN: no sentence
  double loss = 0;                    ///< of the last steps, in nats per letter
};

struct MemoryResult {
  MemoryCurves plain, attention;
  /// Ranges of lengths: up to these, from the one before.
  std::vector<int64_t> up_to;
};

MemoryResult measure_memory(const MemoryOptions& options);
Findings findings_of(const MemoryResult& result);

}  // namespace heed::gradient_flow
