// Writes the pages that the test of the page opens, into the folder that is named.

#include "tests/study/page/synthetic.h"

#include <cstdio>
#include <filesystem>

using namespace heed;
using namespace heed::study;

namespace {

/// No gradients, no flows, no charts, one layer with one head.
Report weights_alone() {
  Report report = test::translator();
  report.layers.resize(1);
  ReportLayer& layer = report.layers[0];
  layer.weights = layer.weights.slice(0, 0, 1);
  layer.gradients = layer.entropy = layer.saturation = Tensor();
  layer.flows.clear();
  report.charts.clear();
  return report;
}

Report charts_alone() {
  Report report = test::translator();
  report.layers.clear();
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "wanted a folder, came %d arguments\n", argc - 1);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  write_report(folder / "translator.html", test::translator());
  write_report(folder / "weights_alone.html", weights_alone());
  write_report(folder / "charts_alone.html", charts_alone());
  write_report(folder / "hostile.html", test::hostile());
  write_report(folder / "largest.html", test::largest());
}
