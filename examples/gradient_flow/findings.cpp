#include "gradient_flow/findings.h"

#include <fmt/format.h>

#include <cmath>

namespace heed::gradient_flow {

void show(const Findings& findings, const std::string& page_path) {
  for (const Table& table : findings.tables) fmt::print("{}\n", table.text());
  fmt::print("{}\n", findings.seen);
  if (page_path.empty()) return;
  study::Report page = findings.page;
  page.text = findings.seen;
  study::write_report(page_path, page);
}

study::ReportChart::Line line(std::string name, std::vector<double> x, std::vector<double> y) {
  return {.name = std::move(name), .x = std::move(x), .y = std::move(y)};
}

double fitted_power(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
  double both = 0, squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    both += dx * (std::log(y[i]) - mean_y);
    squares += dx * dx;
  }
  return both / squares;
}

}  // namespace heed::gradient_flow
