#pragma once

#include <map>

#include <heed/autograd/named.h>
#include <heed/study/record.h>
#include <heed/study/report.h>

/// From what a Recorder has seen to what a report shows.
namespace heed::study {

/// An attention layer on one row of the batch. The tokens stand for the first queries and keys; what comes
/// beyond, as padding does, is left out. ValueError for a record without tensors, IndexError for a row that
/// is not there, ShapeError for more tokens than places.
ReportLayer report_layer(const AttentionRecord& record, int64_t row, const std::vector<ReportToken>& queries,
                         const std::vector<ReportToken>& keys);

/// The layer that a parameter belongs to: its name up to the first number, "decoder.layers.0" of
/// "decoder.layers.0.self_attention.q_proj.weight", or else up to the first dot.
std::string layer_of(const std::string& parameter);

/// The norm of the gradients of each layer's parameters together; those without gradient count as 0.
std::map<std::string, double> gradient_norms_by_layer(const NamedVariables& parameters);
std::map<std::string, double> gradient_norms_by_layer(const std::vector<ParameterRecord>& parameters);

/// These norms over the steps, a line for each layer.
ReportChart gradient_norm_chart(const std::vector<StepRecord>& steps);

}  // namespace heed::study
