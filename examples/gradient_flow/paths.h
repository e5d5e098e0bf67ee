#pragma once

#include "gradient_flow/findings.h"

/// Who gets the gradient: how much of what reaches the input of each attention layer came through its
/// queries, keys and values, and how much past it by the residual connection.
namespace heed::gradient_flow {

struct PathsOptions {
  int64_t layers = 4;
  int64_t width = 32;
  int64_t heads = 4;    ///< of the models with several
  int64_t length = 8;   ///< of the sequences, which are to be told back to front
  int64_t steps = 100;  ///< of training
  uint64_t seed = 0;
};

/// One layer. The shares are those of study::FlowPart, over all heads and places: together 1.
struct LayerShares {
  double query = 0, key = 0, value = 0, residual = 0;
  double gradient = 0;  ///< |gradient| that reaches the layer's input
};

struct PathsModel {
  std::string name;
  std::vector<LayerShares> before, after;  ///< training, layer by layer
  double loss = 0;                         ///< after training, in nats per letter
};

struct PathsResult {
  PathsModel one_head, many_heads, additive, no_residual;
  double guess = 0;                        ///< the loss where every letter is as likely as another
  std::vector<study::ReportLayer> layers;  ///< of many_heads after training, on one sequence
};

PathsResult measure_paths(const PathsOptions& options);
Findings findings_of(const PathsResult& result);

}  // namespace heed::gradient_flow
