#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace heed::translate {

/// One line of the file of metrics.
struct Metrics {
  int64_t epoch = 0;
  int64_t step = 0;
  double loss = 0;  ///< nats per target token
  double lr = 0;
  double gradient_norm = 0;
  double tokens_per_second = 0;
  double seconds = 0;                                 ///< of training since this process began it
  std::map<std::string, double> gradient_norms = {};  ///< by layer, after clipping; of steps only
};

/// A file of JSON lines that grows as training goes: {"kind": "step", "epoch": 1, "step": 50, "loss": ...}
/// now and then, with the loss of that step's batch, and {"kind": "epoch", ..., "floor": ...} after each
/// epoch, with the mean loss of the epoch.
class MetricsFile {
 public:
  /// Keeps those lines of the file that end at `step` or before, so that a training that is taken up again
  /// leaves no line twice. FileError when it cannot be written.
  MetricsFile(const std::filesystem::path& path, int64_t step);

  void add_step(const Metrics& metrics);
  void add_epoch(const Metrics& metrics, double floor);

 private:
  void append(const std::string& line);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace heed::translate
