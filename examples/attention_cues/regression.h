#pragma once

#include <string>
#include <vector>

#include <heed/tensor/tensor.h>

/// Regression by attention pooling (Nadaraya, 1964; Watson, 1964): a value is guessed as the weighted mean of
/// values seen elsewhere, where the weights know nothing, the keys, or the keys and the query.
namespace cues {

inline constexpr int64_t kPoints = 50;
inline constexpr double kFarthest = 5, kNoise = 0.5;

/// What was seen, and what is asked: f32 (1, kPoints, 1) each, x in [0, kFarthest) and in order.
struct Data {
  heed::Tensor x, y;           ///< keys and values: y = 2 sin(x) + x^0.8 + noise
  heed::Tensor asked, wanted;  ///< queries, and the same without noise
};

/// From this thread's generator.
Data make_data();

/// What a pooling made of the data.
struct Result {
  std::string name;
  double error;          ///< root mean square of output - wanted
  heed::Tensor output;   ///< (queries)
  heed::Tensor weights;  ///< (queries, keys)
};

/// What goes on in a trained kernel that is asked about its training points, (queries, keys) each.
struct Inside {
  heed::Tensor open;             ///< weights where all keys are seen
  heed::Tensor masked;           ///< weights as in training, where no point sees itself
  heed::Tensor weight_gradient;  ///< of the training loss, to these weights
  heed::Tensor score_gradient;   ///< and to the scores behind them
};

struct Results {
  Result average, key, fixed, learned, additive;
  Inside learned_inside;

  std::vector<const Result*> all() const { return {&average, &key, &fixed, &learned, &additive}; }
};

/// Trains what has parameters, and asks them all.
Results compare_poolings(const Data& data);

/// What becomes of Gaussian pooling as its kernel narrows: a number for each w.
struct Sweep {
  std::vector<float> w;
  std::vector<float> training_error, test_error;  ///< root mean square; in training no point sees itself
  std::vector<float> largest_weight;              ///< of a training point, the mean
  std::vector<float> score_gradient;              ///< length of the training loss's gradient to all scores
};

Sweep sweep_widths(const Data& data);

}  // namespace cues
