#include "gradient_flow/table.h"

#include <fmt/format.h>
#include <heed/tensor/error.h>

#include <algorithm>
#include <cmath>

namespace heed::gradient_flow {

Table::Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void Table::add(std::vector<std::string> row) {
  if (row.size() != rows_.front().size())
    raise<ValueError>("[table] wanted {} cells, came {}", rows_.front().size(), row.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows_) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string three_digits(double number) {
  if (!std::isfinite(number)) return "-";
  const double size = std::abs(number);
  if (size == 0) return "0";
  if (size < 1e-4 || size >= 1e5) return fmt::format("{:.1e}", number);
  const int before = static_cast<int>(std::floor(std::log10(size)));
  return fmt::format("{:.{}f}", number, std::max(0, 2 - before));
}

}  // namespace heed::gradient_flow
