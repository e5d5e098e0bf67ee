#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::translate {

/// What a progress line shows.
struct ProgressState {
  int64_t epoch = 0, epochs = 0;
  int64_t step = 0, steps = 0;  ///< of the whole training
  double loss = 0;              ///< nats per target token
  double floor = 0;
  int64_t tokens = 0;  ///< target tokens so far
};

/// Shows how training goes: one line that is rewritten on a terminal, some twenty plain lines elsewhere.
class Progress {
 public:
  Progress();
  void show(const ProgressState& state);
  /// Ends the line on a terminal.
  void finish();
  double seconds() const;

 private:
  bool due(const ProgressState& state);

  bool is_terminal_;
  std::chrono::steady_clock::time_point start_, last_;
  int64_t lines_ = 0;
};

/// "epoch 12/60  loss 0.873 (floor 0.154)  41,000 tokens/s  0:23 left"
std::string progress_line(const ProgressState& state, double seconds);

}  // namespace heed::translate
