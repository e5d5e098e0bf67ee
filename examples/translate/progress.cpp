#include "translate/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

namespace heed::translate {
namespace {

constexpr int64_t kPlainLines = 20;
constexpr std::chrono::milliseconds kRefresh{100};

/// 41234 -> "41,234"
std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (auto place = static_cast<int64_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<size_t>(place), ",");
  return text;
}

}  // namespace

std::string progress_line(const ProgressState& s, double seconds) {
  const double share = s.steps == 0 ? 1 : static_cast<double>(s.step) / static_cast<double>(s.steps);
  const auto left = static_cast<int64_t>(share > 0 ? seconds * (1 - share) / share + 0.5 : 0);
  const auto rate = static_cast<int64_t>(seconds > 0 ? static_cast<double>(s.tokens) / seconds : 0);
  return fmt::format("epoch {}/{}  loss {:.3f} (floor {:.3f})  {} tokens/s  {}:{:02} left", s.epoch, s.epochs,
                     s.loss, s.floor, with_commas(rate), left / 60, left % 60);
}

Progress::Progress()
    : is_terminal_(isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()), last_(start_) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Progress::due(const ProgressState& s) {
  if (s.step == s.steps) return true;
  if (!is_terminal_) return s.step * kPlainLines >= s.steps * (lines_ + 1);
  return std::chrono::steady_clock::now() - last_ >= kRefresh;
}

void Progress::show(const ProgressState& state) {
  if (!due(state)) return;
  ++lines_;
  last_ = std::chrono::steady_clock::now();
  const std::string line = progress_line(state, seconds());
  if (is_terminal_)
    fmt::print(stderr, "\r{}\x1b[K", line);
  else
    spdlog::info("{}", line);
}

void Progress::finish() {
  if (is_terminal_) fmt::print(stderr, "\n");
}

}  // namespace heed::translate
