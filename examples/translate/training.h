#pragma once

#include "translate/data/batches.h"
#include "translate/translator.h"

namespace heed::translate {

struct TrainingOptions {
  int64_t epochs = 1;
  int64_t batch = 64;
  double lr = 0.005;
  double clip = 1;  ///< of the gradients' common norm
  uint64_t seed = 0;
};

struct TrainingResult {
  double loss = 0;   ///< of the last epoch: nats per target token, padding left out
  double floor = 0;  ///< the lowest possible on these examples
  double seconds = 0;
  double tokens_per_second = 0;  ///< target tokens, padding left out
};

/// Trains the translator's model on the examples by Adam and shows the progress. ValueError, naming the step,
/// when a loss or a gradient is not finite.
TrainingResult train(Translator& translator, std::span<const Encoded> examples,
                     const TrainingOptions& options);

}  // namespace heed::translate
