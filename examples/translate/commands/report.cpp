#include "translate/commands/report.h"

#include <spdlog/spdlog.h>

namespace heed::translate {

void warn_of_skipped(const std::string& data, const LoadReport& report) {
  for (const std::string& problem : report.problems) spdlog::warn("{}: {}", data, problem);
  if (report.skipped > 0) spdlog::warn("{}: {} lines skipped", data, report.skipped);
}

}  // namespace heed::translate
