#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::translate {

/// What a progress line shows.
struct ProgressState {
  int64_t epoch = 0, epochs = 0;
  int64_t step = 0, steps = 0;  ///< of the whole training
  int64_t first_step = 0;       ///< the steps that were taken before this process began
  double loss = 0;              ///< nats per target token
  double floor = 0;
  double lr = 0;
  double gradient_norm = 0;
  int64_t tokens = 0;  ///< target tokens since this process began
};

/// Shows how training goes: one line that is rewritten on a terminal, some twenty plain lines elsewhere, and
/// nothing when the log is quiet.
class Progress {
 public:
  Progress();
  /// Ends the line on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressState& state);
  double seconds() const;

 private:
  bool due(const ProgressState& state);

  bool is_quiet_, is_terminal_;
  std::chrono::steady_clock::time_point start_, last_;
  int64_t lines_ = 0;
};

/// "epoch 12/60  step 1200  loss 0.873  floor 0.154  41,234 tokens/s  lr 0.005  grad 0.82  0:23 left", in a
/// line of at most `columns`: briefer where it must be, and then without what matters least. 0: no limit.
std::string progress_line(const ProgressState& state, double seconds, int columns = 0);

}  // namespace heed::translate
