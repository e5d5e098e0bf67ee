#pragma once

#include <string>
#include <vector>

namespace heed::gradient_flow {

/// Rows of cells below a heading, in columns as wide as their widest cell: the first to the left, the others
/// to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> heading);
  /// ValueError unless there is a cell for each column.
  void add(std::vector<std::string> row);
  /// Lines, each with its end.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the heading first
};

/// A number in three digits, as 0.0123 or 45.6, or "-" if it is none.
std::string three_digits(double number);

}  // namespace heed::gradient_flow
