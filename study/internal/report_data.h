#pragma once

#include <string>

#include <heed/study/report.h>

namespace heed::study::internal {

/// How the attention matrices of a report stand in its page.
struct Precision {
  int bits;      ///< of each number: 16 or 8
  int64_t kept;  ///< numbers of a row: the length of the longest, or as many of the strongest as fit
};

/// The finest with which the matrices take at most `characters`: all numbers in 16 bits, all in 8 bits, or
/// the strongest of each row in 8 bits, one at least.
Precision finest_precision(const std::vector<ReportLayer>& layers, int64_t characters);

/// Throws what report_html promises for parts that do not fit together.
void check_report(const Report& report);

/// What the page's scripts read, as JSON without a `<`.
std::string report_json(const Report& report);

}  // namespace heed::study::internal
