#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <heed/study/flow.h>
#include <heed/study/statistics.h>

/// What a Recorder has seen of a step.
namespace heed::study {

/// One attention layer in one pass. Values and gradients go by the names of its points (heed/nn/attention.h),
/// with weights and scores always (batch, heads, queries, keys); a point without gradient is not among the
/// gradients. Where a decoder asks the same keys query by query, the queries stand side by side as in one
/// pass.
struct AttentionRecord {
  std::string name;  ///< as "decoder.layers.0.cross_attention"
  std::map<std::string, Tensor> values, gradients;
  std::vector<HeadStatistics> heads;
  std::vector<Flow> flows;  ///< the gradient of what goes in, by the path it took
};

/// A value that another module shows: a state at each time step, the output of an embedding, a residual sum.
struct PointRecord {
  std::string name;  ///< as "encoder.layers.0.state"
  std::vector<Tensor> values,
      gradients;  ///< one for each time it was shown, in order; undefined: no gradient
  std::vector<double> value_norms, gradient_norms;
};

struct ParameterRecord {
  std::string name;
  ParameterStatistics statistics;
};

struct StepRecord {
  int64_t step = 0;  ///< counted from 1
  std::vector<AttentionRecord> attention;
  std::vector<PointRecord> points;
  std::vector<ParameterRecord> parameters;
};

}  // namespace heed::study
