#pragma once

#include <heed/study/report.h>

#include <span>
#include <string>
#include <vector>

#include "gradient_flow/table.h"

namespace heed::gradient_flow {

/// What an experiment has to show.
struct Findings {
  std::vector<Table> tables;
  std::string seen;    ///< what the numbers say
  study::Report page;  ///< without its text, which is `seen`
};

/// Prints the tables and what is seen; with a path, writes the page there.
void show(const Findings& findings, const std::string& page_path);

/// A line of a chart.
study::ReportChart::Line line(std::string name, std::vector<double> x, std::vector<double> y);

/// The p of y = c x^p that fits best: least squares in the logarithms of x and y, which are positive.
double fitted_power(std::span<const double> x, std::span<const double> y);

}  // namespace heed::gradient_flow
