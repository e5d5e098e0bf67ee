#include "translate/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "translate/terminal.h"

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

/// 83 -> "1:23", and with hours "2:01:23"
std::string clock_time(int64_t seconds) {
  const int64_t minutes = seconds / 60, hours = minutes / 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes % 60, seconds % 60)
                   : fmt::format("{}:{:02}", minutes, seconds % 60);
}

/// A part of the line, in full and in brief; those of the highest rank are the first to go.
struct Field {
  int rank;
  std::string full, brief;
};

std::string joined(const std::vector<Field>& fields, const char* between, std::string Field::*text) {
  std::string line;
  for (const Field& field : fields) line += (line.empty() ? "" : between) + field.*text;
  return line;
}

}  // namespace

std::string progress_line(const ProgressState& s, double seconds, int columns) {
  const auto done = static_cast<double>(s.step - s.first_step), ahead = static_cast<double>(s.steps - s.step);
  const auto left = static_cast<int64_t>(done > 0 ? seconds * ahead / done + 0.5 : 0);
  const auto rate = static_cast<int64_t>(seconds > 0 ? static_cast<double>(s.tokens) / seconds : 0);
  const auto both = [](int rank, const std::string& text) { return Field{rank, text, text}; };
  std::vector<Field> fields{
      {1, fmt::format("epoch {}/{}", s.epoch, s.epochs), fmt::format("ep {}/{}", s.epoch, s.epochs)},
      both(6, fmt::format("step {}", s.step)),
      both(0, fmt::format("loss {:.3f}", s.loss)),
      both(3, fmt::format("floor {:.3f}", s.floor)),
      {4, with_commas(rate) + " tokens/s", with_commas(rate) + " tok/s"},
      both(7, fmt::format("lr {:.2g}", s.lr)),
      both(5, fmt::format("grad {:.2f}", s.gradient_norm)),
      {2, clock_time(left) + " left", clock_time(left)}};
  const std::string full = joined(fields, "  ", &Field::full);
  if (columns == 0 || display_width(full) <= columns) return full;
  const auto brief = [&] { return joined(fields, " ", &Field::brief); };
  while (fields.size() > 1 && display_width(brief()) > columns)
    fields.erase(std::ranges::max_element(fields, {}, &Field::rank));
  return fitted(brief(), columns);
}

Progress::Progress()
    : is_quiet_(!spdlog::should_log(spdlog::level::info)),
      is_terminal_(error_columns() > 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Progress::due(const ProgressState& s) {
  if (s.step == s.steps) return true;
  if (!is_terminal_) return (s.step - s.first_step) * kPlainLines >= (s.steps - s.first_step) * (lines_ + 1);
  return std::chrono::steady_clock::now() - last_ >= kRefresh;
}

void Progress::show(const ProgressState& state) {
  if (is_quiet_ || !due(state)) return;
  ++lines_;
  last_ = std::chrono::steady_clock::now();
  // The last column stays free: a terminal may begin a new line when it is written to.
  if (is_terminal_)
    fmt::print(stderr, "\r{}\x1b[K", progress_line(state, seconds(), error_columns() - 1));
  else
    spdlog::info("{}", progress_line(state, seconds()));
}

Progress::~Progress() {
  if (is_terminal_ && lines_ > 0) fmt::print(stderr, "\n");
}

}  // namespace heed::translate
