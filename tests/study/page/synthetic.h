#pragma once

#include <string>
#include <vector>

#include <heed/study/report.h>

/// Reports with numbers that no model made, but could have: for the tests of the page.
namespace heed::study::test {

/// Words, a marker at the end and padding behind it.
std::vector<ReportToken> sentence(const std::vector<std::string>& words, int64_t padding = 0);

/// `length` made-up words and no marker.
std::vector<ReportToken> long_sentence(int64_t length);

/// Softmax of random scores that favour the diagonal: (heads, queries, keys).
Tensor random_weights(int64_t heads, int64_t queries, int64_t keys, uint64_t seed);

/// A layer with weights, gradients, entropy and saturation of its weights.
ReportLayer random_layer(const std::string& name, int64_t heads, const std::vector<ReportToken>& queries,
                         const std::vector<ReportToken>& keys, uint64_t seed);

/// Shares of the given paths that add up to 1 at each place, some of them negative; "residual" has one head.
ReportFlow random_flow(const std::string& input, const std::vector<std::string>& paths, int64_t heads,
                       const std::vector<ReportToken>& tokens, uint64_t seed);

/// A small translator: encoder, decoder and cross-attention, flows and charts, padding and special tokens.
Report translator();

/// The largest page that is promised to stay small: 12 layers of 12 heads on 200 tokens, with flows.
Report largest();

/// Tokens, names and titles that a careless page would stumble over.
Report hostile();

}  // namespace heed::study::test
