#include "translate/commands/report.h"

#include <spdlog/spdlog.h>

#include <iterator>

namespace heed::translate {

void warn_of_skipped(const std::string& data, const LoadReport& report) {
  for (const std::string& problem : report.problems) spdlog::warn("{}: {}", data, problem);
  const int64_t more = report.skipped - std::ssize(report.problems);
  if (more > 0) spdlog::warn("{}: and {} more such lines", data, more);
  if (report.skipped > 0) spdlog::warn("{}: {} lines skipped", data, report.skipped);
}

}  // namespace heed::translate
