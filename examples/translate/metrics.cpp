#include "translate/metrics.h"

#include <heed/tensor/error.h>
#include <heed/tensor/files/atomic_file.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

namespace heed::translate {
namespace {

using nlohmann::ordered_json;

bool ends_by(const ordered_json& entry, int64_t step) {
  const auto end = entry.find("step");  // none unless it is an object
  return end != entry.end() && end->is_number_integer() && end->get<int64_t>() <= step;
}

/// The lines of an old file up to a step; one that a dying process left half written is none.
std::string kept_lines(const std::filesystem::path& path, int64_t step) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line);) {
    const ordered_json entry = ordered_json::parse(line, nullptr, false);
    if (ends_by(entry, step)) kept += line + "\n";
  }
  return kept;
}

ordered_json to_json(const char* kind, const Metrics& m) {
  return {{"kind", kind},
          {"epoch", m.epoch},
          {"step", m.step},
          {"loss", m.loss},
          {"lr", m.lr},
          {"gradient_norm", m.gradient_norm},
          {"tokens_per_s", m.tokens_per_second},
          {"seconds", m.seconds}};
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  raise<FileError>("[metrics] {}: cannot be written: {}", path.string(),
                   std::generic_category().message(errno));
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path, int64_t step) : path_(path) {
  const std::string kept = kept_lines(path, step);
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(kept))); });
  file_.reset(std::fopen(path.c_str(), "a"));
  if (!file_) fail(path_);
}

void MetricsFile::add_step(const Metrics& metrics) {
  ordered_json line = to_json("step", metrics);
  line["gradient_norms"] = metrics.gradient_norms;
  append(line.dump());
}

void MetricsFile::add_epoch(const Metrics& metrics, double floor) {
  ordered_json line = to_json("epoch", metrics);
  line["floor"] = floor;
  append(line.dump());
}

void MetricsFile::append(const std::string& line) {
  if (std::fputs((line + "\n").c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) fail(path_);
}

}  // namespace heed::translate
