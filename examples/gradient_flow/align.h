#pragma once

#include "gradient_flow/findings.h"
#include "translate/architecture.h"

/// Attention that aligns: how well each head that looks at the source finds the word that is translated,
/// while the translator learns.
namespace heed::gradient_flow {

struct AlignOptions {
  translate::ModelKind model = translate::ModelKind::transformer;  ///< of the size "toy"
  int64_t pairs = 6000;     ///< of the embedded corpus, those that are kept out among them
  int64_t sentences = 300;  ///< that are kept out, to align
  int64_t steps = 1000;     ///< of training
  int64_t every = 100;      ///< steps between measurements
  uint64_t seed = 0;
};

struct AlignResult {
  struct Head {
    std::string name;                 ///< as "L1H0": layer 1, head 0
    std::vector<double> error_rates;  ///< at each of `steps`
  };
  std::vector<double> steps;   ///< at which was measured: from 0
  std::vector<double> losses;  ///< since the measurement before, in nats per target token; NaN at 0
  std::vector<Head> heads;     ///< in the order of the model
  double lowest = 0;           ///< the error rate of the best link for each target word
  std::vector<study::ReportLayer> layers;  ///< after training, on a sentence that was kept out
};

AlignResult measure_align(const AlignOptions& options);
Findings findings_of(const AlignResult& result);

}  // namespace heed::gradient_flow
