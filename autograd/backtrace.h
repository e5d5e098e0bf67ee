#pragma once

#include <array>
#include <string>
#include <vector>

namespace heed::internal {

/// The calls that led to a place, as addresses: cheap to take, and put into words only when they are shown.
class Backtrace {
 public:
  /// The calls that led here, without the machinery of recording on top.
  Backtrace();

  /// One line per call, innermost first: the function's name where the program exports it (heed's targets ask
  /// the linker to), else the file and the offset that addr2line takes.
  std::vector<std::string> lines() const;

 private:
  std::array<void*, 48> frames_;
  int count_;
};

}  // namespace heed::internal
