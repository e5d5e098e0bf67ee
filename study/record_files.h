#pragma once

#include <filesystem>
#include <string>

#include <heed/study/record.h>

namespace heed::study {

/// The statistics of a step as one line of JSON, without the line's end:
///   {"step": 1,
///    "attention": [{"name": ..., "heads": [{"entropy": ..., ...}], "flows": [{"input": ..., "shares":
///    {"query":
///                   [of each head], ...}}]}],
///    "points": [{"name": ..., "value_norms": [...], "gradient_norms": [...]}],
///    "parameters": {NAME: {"gradient_norm": ..., ...}}}
/// with the names of the members of the records. A number that is not finite is null.
std::string to_json(const StepRecord& step);

/// Writes the tensors of a step as safetensors: LAYER.weights and so on, their gradients as
/// LAYER.weights.grad, flows as LAYER.flow.INPUT.PATH, points as NAME.0, NAME.1, ... The records of a layer
/// that ran several times are called LAYER, LAYER#2, LAYER#3, ... FileError where that fails.
void save_tensors(const std::filesystem::path& path, const StepRecord& step);

}  // namespace heed::study
