#pragma once

#include <heed/tensor/tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace heed::translate {

/// What a search needs of a model: rows of unfinished sentences, each of which goes on by one token a step.
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// The log-probabilities f32 (rows, vocabulary) of what follows `tokens`, the last token of each row.
  virtual Tensor step(std::span<const int64_t> tokens) = 0;
  /// Goes on with the rows at these places, in this order, some of them left out or repeated.
  virtual void select(std::span<const int64_t> rows) = 0;
};

struct BeamOptions {
  int64_t beam = 1;        ///< how many hypotheses of a sentence are kept; 1 is greedy
  int64_t max_length = 1;  ///< tokens of a hypothesis, the end marker included
  int64_t begin = 0;
  int64_t end = 0;
  double length_penalty = 1;  ///< score = log-probability / length^penalty; 0: the log-probability alone
};

struct Hypothesis {
  std::vector<int64_t> tokens;  ///< without begin and end marker
  double log_probability = 0;   ///< of the tokens and, where finished, the end marker
  double score = 0;
  bool finished = false;  ///< ended by the end marker, and not by max_length
};

/// The best hypotheses of each of `sentences` sentences, which are the model's rows at first: at most `beam`
/// each, all different, those that are finished before those that are not, and the better score first. A step
/// keeps the `beam` likeliest continuations of all that is kept of a sentence; one that ends is done, and the
/// sentence is, too, when nothing unfinished can still beat `beam` finished ones. What has probability 0 is
/// never chosen; a sentence all of whose hypotheses lead nowhere has none. ValueError for a beam or length
/// below 1, a negative penalty, or a probability that is NaN.
std::vector<std::vector<Hypothesis>> beam_search(StepModel& model, int64_t sentences,
                                                 const BeamOptions& options);

}  // namespace heed::translate
