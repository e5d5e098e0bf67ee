#pragma once

#include "gradient_flow/findings.h"

/// Why dot products are divided by sqrt(d): what they do to softmax, and to the gradient that has to come
/// through it. Vaswani et al., "Attention is all you need" (2017), section 3.2.1.
namespace heed::gradient_flow {

struct ScaleOptions {
  std::vector<int64_t> widths = {4, 8, 16, 32, 64, 128, 256, 512};  ///< d, of queries and keys
  int64_t queries = 1024;                                           ///< each with keys of its own
  int64_t keys = 16;
  uint64_t seed = 0;
};

/// Softmax over the products of standard normal queries and keys. The gradients that arrive at the weights
/// are standard normal too, whatever d is.
struct Softmax {
  double spread = 0;      ///< the standard deviation of a query's scores
  double entropy = 0;     ///< in nats; ln keys at the most
  double saturation = 0;  ///< 1 - sum p^2: 0 where all looks at one key
  double decided = 0;     ///< the share of queries with more than 99% on one key
  double passed = 0;  ///< |dL/dS| / |dL/dA|: the gradient behind softmax against that before, of all queries
  double passed_by_half = 0;  ///< the same of a single query: the median
};

struct ScaleResult {
  struct Width {
    double width = 0;
    Softmax scaled, unscaled;
  };
  std::vector<Width> widths;
  int64_t keys = 0;
};

ScaleResult measure_scale(const ScaleOptions& options);
Findings findings_of(const ScaleResult& result);

}  // namespace heed::gradient_flow
