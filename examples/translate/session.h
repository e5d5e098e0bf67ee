#pragma once

#include <filesystem>

#include "translate/training.h"
#include "translate/translator.h"

namespace heed::translate {

struct SessionResult {
  double loss = 0;               ///< the mean of the last epoch: nats per target token, padding left out
  double seconds = 0;            ///< of this session
  double tokens_per_second = 0;  ///< target tokens, padding left out
  int signal = 0;                ///< the signal that ended it before its time; 0: none
};

/// Trains until `steps` steps are taken in all, or until Ctrl-C or SIGTERM, whichever comes first. Shows
/// the progress, writes metrics, and saves a checkpoint at first, after each epoch and at last. When a loss
/// or a parameter is not finite, the last good checkpoint stays.
SessionResult run_session(Training& training, const Translator& translator,
                          const std::filesystem::path& folder, int64_t steps, double floor);

}  // namespace heed::translate
